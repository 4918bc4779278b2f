"""Time UCB1 in PyMAB: the public Experiment on its Rust backend, and the compiled simulation beneath it."""

import json

import numpy as np
from common import MEANS, main
from pymab import BanditEnvironment, BernoulliReward, Experiment, ExperimentConfig, _native
from pymab.policies import UCBPolicy


class PublicExperiment:
    """``Experiment.run``: the Rust simulation, then provenance and a validated ``SimulationResult``."""

    def __init__(self, rounds: int, seed: int) -> None:
        """Construct the experiment; backend="rust" refuses to fall back to Python."""
        self.experiment = Experiment(
            environment=BanditEnvironment(means=np.array(MEANS), reward_model=BernoulliReward()),
            policies={"ucb1": UCBPolicy(n_arms=len(MEANS), c=2.0)},
            config=ExperimentConfig(horizon=rounds, n_replicates=1, seed=seed, backend="rust"),
        )
        self.actions = np.empty(0, dtype=np.int64)

    def run(self) -> None:
        """Run the experiment."""
        self.actions = self.experiment.run().actions

    def best_arm_pulls(self) -> int:
        """Count the pulls of arm 0."""
        return int(np.count_nonzero(self.actions == 0))


class NativeExperiment:
    """The compiled simulation alone, through PyMAB's private binding: no result object, no validation."""

    def __init__(self, rounds: int, seed: int) -> None:
        """Construct the native policy and environment handles."""
        self.rounds = rounds
        self.seed = seed
        self.policy = UCBPolicy(n_arms=len(MEANS), c=2.0)
        self.environment = _native.create_environment(
            json.dumps(
                {
                    "kind": "classic",
                    "means": MEANS,
                    "reward": {"kind": "bernoulli"},
                    "dynamics": {"kind": "stationary"},
                }
            )
        )
        self.actions = np.empty(0, dtype=np.int64)

    def run(self) -> None:
        """Run the compiled loop; it returns its records as NumPy arrays."""
        policies = [("ucb1", self.policy._native_handle)]
        output = _native.run_experiment(self.environment, policies, self.rounds, 1, self.seed, "common", False)
        self.actions = output.actions

    def best_arm_pulls(self) -> int:
        """Count the pulls of arm 0."""
        return int(np.count_nonzero(self.actions == 0))


if __name__ == "__main__":
    main("pymab", {"experiment": PublicExperiment, "native": NativeExperiment}, default_rounds=100_000)
