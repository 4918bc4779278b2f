"""Engines: the game loop, the budget meter, seeds, threads and results."""
