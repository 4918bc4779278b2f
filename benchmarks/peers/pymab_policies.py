"""Time a policy of PyMAB: the public Experiment on its Rust backend, and the compiled simulation beneath it."""

import json

import numpy as np
from common import MEANS, Maker, Policies, exp3_gamma, main
from pymab import BanditEnvironment, BernoulliReward, Experiment, ExperimentConfig, _native
from pymab import policies as theirs

K = len(MEANS)

POLICIES: Policies = {
    "UCB1": lambda rounds: theirs.UCBPolicy(n_arms=K, c=2.0),
    "KLUCB": lambda rounds: theirs.KLUCBPolicy(n_arms=K, c=1e-9),  # the factor of ln ln t, which may not be 0
    "MOSS": lambda rounds: theirs.MOSSPolicy(n_arms=K, horizon=rounds, c=1.0),
    "Thompson": lambda rounds: theirs.BernoulliThompsonSamplingPolicy(n_arms=K),
    "EpsilonGreedy": lambda rounds: theirs.DecayingEpsilonGreedyPolicy(n_arms=K, min_epsilon=0.0, decay_rate=1 / K),
    "EXP3": lambda rounds: theirs.EXP3Policy(n_arms=K, gamma=exp3_gamma(rounds)),
    "SE": lambda rounds: theirs.SuccessiveEliminationPolicy(n_arms=K, delta=K / rounds),
}


class PublicExperiment:
    """``Experiment.run``: the Rust simulation, then provenance and a validated ``SimulationResult``."""

    def __init__(self, maker: Maker, rounds: int, seed: int) -> None:
        """Construct the experiment; backend="rust" refuses to fall back to Python."""
        self.experiment = Experiment(
            environment=BanditEnvironment(means=np.array(MEANS), reward_model=BernoulliReward()),
            policies={"policy": maker(rounds)},
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

    def __init__(self, maker: Maker, rounds: int, seed: int) -> None:
        """Construct the native policy and environment handles."""
        self.rounds = rounds
        self.seed = seed
        self.policy = maker(rounds)
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
        policies = [("policy", self.policy._native_handle)]
        output = _native.run_experiment(self.environment, policies, self.rounds, 1, self.seed, "common", False)
        self.actions = output.actions

    def best_arm_pulls(self) -> int:
        """Count the pulls of arm 0."""
        return int(np.count_nonzero(self.actions == 0))


if __name__ == "__main__":
    main("pymab", POLICIES, {"experiment": PublicExperiment, "native": NativeExperiment}, default_rounds=100_000)
