"""A robot's XML: reading, xacro, validation and repair, with the place of every fault."""
