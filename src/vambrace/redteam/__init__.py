"""Red team: every attack against one policy, and against all of them, to choose one."""
