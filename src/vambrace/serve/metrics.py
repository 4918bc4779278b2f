"""What is counted, as Prometheus reads it.

The text format is a few lines, so no library is needed. Names of experiments are not among the labels: a key that sees
one experiment must not learn the names of the others.
"""

from bisect import bisect_left
from collections import Counter

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)  # seconds
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Requests by operation and status, the time that they took, decisions and answers. Only the loop changes them."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0
        self._events: Counter[str] = Counter()

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self._requests[method, route, status] += 1
        self._seconds += seconds
        self._buckets[bisect_left(BUCKETS, seconds)] += 1

    def add(self, kind: str, number: int = 1) -> None:
        """Decisions were made (asked), or answers came (applied, duplicate, late, conflict, unknown)."""
        self._events[kind] += number

    def text(self, waiting: int) -> str:
        """Everything, for Prometheus."""
        lines = ["# TYPE vambrace_requests_total counter"]
        for (method, route, status), number in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            lines.append(f"vambrace_requests_total{{{labels}}} {number}")
        lines.append("# TYPE vambrace_request_seconds histogram")
        total = 0
        for limit, number in zip((*map(str, BUCKETS), "+Inf"), self._buckets, strict=True):
            total += number
            lines.append(f'vambrace_request_seconds_bucket{{le="{limit}"}} {total}')
        lines += [f"vambrace_request_seconds_sum {self._seconds:.6f}", f"vambrace_request_seconds_count {total}"]
        lines.append("# TYPE vambrace_events_total counter")
        lines += [f'vambrace_events_total{{kind="{kind}"}} {n}' for kind, n in sorted(self._events.items())]
        lines += ["# TYPE vambrace_waiting gauge", f"vambrace_waiting {waiting}"]
        return "\n".join([*lines, ""])
