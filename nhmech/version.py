"""The version, in its one place: setup.cfg reads it from here, and a test holds package.xml and
CHANGELOG.md to it."""

__version__ = "0.1.0"
