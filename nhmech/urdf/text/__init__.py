"""A robot's XML: read, expanded, validated, mended, with places for every complaint."""
