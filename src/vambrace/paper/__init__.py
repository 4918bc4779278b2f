"""The paper: its suites of experiments, its claims and their verdicts, and the command that reproduces them all."""
