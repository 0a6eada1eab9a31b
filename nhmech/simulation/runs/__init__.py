"""What is kept of a run, in memory and in files."""
