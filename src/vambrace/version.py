"""The version, in a module that every part of the package may import."""

__version__ = "0.2.0.dev0"
