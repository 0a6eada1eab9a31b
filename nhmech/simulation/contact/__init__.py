"""Forces of the ground, and what follows where rolling ends."""
