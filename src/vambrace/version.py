"""The version, in a place that every part of the package may ask."""

__version__ = "0.2.0.dev0"
