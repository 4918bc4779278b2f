"""The live learner: the simulated algorithms, one decision at a time."""
