"""Live learners, in memory or in a database: the simulated algorithms, one decision at a time."""
