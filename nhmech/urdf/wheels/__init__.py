"""How wheels are found in a description: what is round, what touches the ground, what turns it."""
