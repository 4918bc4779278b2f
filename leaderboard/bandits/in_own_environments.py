"""Bandits of SMPyBandits and PyMAB, which run in environments of their own (`make build/peers/pymab/.ready`).

A child process in that environment, `child.py`, is asked and told through a pipe; it plays one game after another.
"""

import struct
import subprocess
from functools import cache
from itertools import count
from pathlib import Path
from typing import IO, Any

HERE = Path(__file__).parent
PEERS = HERE.parent.parent / "build" / "peers"
ASKED = struct.Struct("<iid")  # a game, the arm that was pulled (-1: none yet), and what it paid
STARTED = struct.Struct("<iii")  # the number of arms, of rounds, and the seed
ANSWERED = struct.Struct("<i")  # the arm to pull


class OwnEnvironment:
    """A bandit of a library that has an environment of its own.

    Args:
        n_arms: The number of arms.
        horizon: The number of rounds.
        seed: The seed of its random numbers.
    """

    folder: str
    library: str
    policy: str
    numbers = count()

    def __init__(self, n_arms: int, horizon: int, seed: int) -> None:
        self.game, self.learnt = next(self.numbers), (-1, 0.0)
        self.pipe = child(self.folder, self.policy)
        self.pipe[0].write(ASKED.pack(self.game, -2, 0.0) + STARTED.pack(n_arms, horizon, seed))

    def ask(self) -> int:
        """The arm to pull."""
        to, back = self.pipe
        to.write(ASKED.pack(self.game, *self.learnt))
        to.flush()
        answer = back.read(ANSWERED.size)
        if len(answer) < ANSWERED.size:
            raise RuntimeError(f"{self.library}: its process has ended")
        return int(ANSWERED.unpack(answer)[0])

    def tell(self, arm: int, reward: float) -> None:
        """Learn from a reward, when it is next asked."""
        self.learnt = (arm, reward)


@cache
def child(folder: str, policy: str) -> tuple[IO[bytes], IO[bytes]]:
    """The two ends of a process that plays a policy; it ends when this process does."""
    python = PEERS / folder / "bin" / "python"
    if not python.exists():
        raise FileNotFoundError(f"{folder}: expected its environment, got none; make build/peers/{folder}/.ready")
    command = [str(python), str(HERE / "child.py"), folder, policy]
    started: Any = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1 << 16)
    return started.stdin, started.stdout


class SMPyBanditsUCB(OwnEnvironment):
    """UCB1 as SMPyBandits has it."""

    folder, library, policy = "smpybandits", "SMPyBandits 0.9.7", "UCB"


class SMPyBanditsThompson(OwnEnvironment):
    """Thompson sampling as SMPyBandits has it."""

    folder, library, policy = "smpybandits", "SMPyBandits 0.9.7", "Thompson"


class PyMABUCB(OwnEnvironment):
    """UCB1 as PyMAB has it, with c = 2."""

    folder, library, policy = "pymab", "PyMAB 2.0.1", "UCBPolicy"


class PyMABThompson(OwnEnvironment):
    """Thompson sampling as PyMAB has it."""

    folder, library, policy = "pymab", "PyMAB 2.0.1", "BernoulliThompsonSamplingPolicy"


class PyMABSuccessiveElimination(OwnEnvironment):
    """Successive elimination as PyMAB has it, with delta = K/T."""

    folder, library, policy = "pymab", "PyMAB 2.0.1", "SuccessiveEliminationPolicy"
