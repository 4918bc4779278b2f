"""Red team: every attack against one policy."""
