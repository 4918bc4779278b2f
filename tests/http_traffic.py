"""Traffic for the service: clients of `vb.connect`, and servers that are killed at any moment and start again."""

import random
import socket
from typing import Any

import vambrace as vb
from traffic import ARMS, CONTEXT, NAME, Traffic, opened
from vambrace.client.remote import RemoteLearner
from vambrace.live.core import Core
from vambrace.live.explanation import explained


def serve(url: str, port: int) -> None:
    """A server, as `vambrace serve` runs it."""
    from vambrace.serve.server import run
    from vambrace.serve.settings import Settings

    run(Settings(db=url, port=port), say=lambda line: None)


def free_port() -> int:
    """A port on which nobody listens now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class HttpTraffic(Traffic):
    """Servers, clients that send each request until it is answered, and what they were answered."""

    def __init__(self, url: str, *, workers: int, clients: int, seed: int) -> None:
        opened(url).close()  # the experiment
        self._ports = [free_port() for _ in range(workers)]
        self._learners: list[RemoteLearner] = []
        super().__init__(url, None, workers=workers, clients=clients, seed=seed)  # type: ignore[arg-type]

    def _start(self, place: int) -> tuple[Any, str]:
        port = self._ports[place]
        process = CONTEXT.Process(target=serve, args=(self.url, port), daemon=True)
        process.start()
        return process, f"http://127.0.0.1:{port}"

    def _send(self, dice: random.Random, connections: dict[str, Any], *request: Any) -> Any:
        address = dice.choice(self.workers)[1]  # of a server that may be dead: it starts again there
        if address not in connections:
            connections[address] = vb.connect(address, NAME, timeout=10.0, patience=120.0)
            self._learners.append(connections[address])
        learner: RemoteLearner = connections[address]
        name, *values = request
        if name == "ask":
            decision = learner.ask(key=values[0])
            return decision.id, decision.arm
        return learner.tell(*values)

    def check_live(self, core: Core) -> None:
        """What each server says is what the journal says."""
        self.retries = sum(learner.retries for learner in self._learners)
        for _, address in self.workers:
            learner = vb.connect(address, NAME, patience=60.0)
            assert learner.explain() == explained(core)
            assert (learner.arms, learner.asked) == (ARMS, core.asked)
            learner.close()
        for learner in self._learners:
            learner.close()
