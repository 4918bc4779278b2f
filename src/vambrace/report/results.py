"""Several results in one figure: `vb.figure` and `Result.plot`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vambrace.engine.result import Result, checked_results
from vambrace.errors import InvalidParameter
from vambrace.parameters import spec_of
from vambrace.report.figures import lines_figure
from vambrace.report.legend import for_file
from vambrace.report.style import Name, style_named

if TYPE_CHECKING:
    import altair


def figure(results: Sequence[Result], *, title: str = "Regret", style: Name = "screen") -> "altair.VConcatChart":
    """Regret against rounds of several results: a line for each policy, and its band.

    The line is the mean, and the band goes from the 5 % to the 95 % quantile of the games. Results that differ in the
    attack, the arms, the horizon or the feedback are drawn side by side on one scale, never in one line. Needs the
    extra `vambrace[report]`. `.save("regret.pdf")` writes the figure; .svg, .png and .html are the other formats.

    Args:
        results: What `vb.simulate` returned, at least one; no two of the same game and seed.
        title: What stands above the figure, on a screen.
        style: "screen", or "paper": as wide as one column, labels at the lines, no title, colours that differ in grey.

    >>> import vambrace as vb
    >>> env = vb.Bernoulli([0.9, 0.1])
    >>> played = [vb.simulate(policy, env, horizon=100, replications=2) for policy in (vb.UCB1(), vb.SE())]
    >>> vb.figure(played).to_dict()["title"]["text"]
    'Regret'
    """
    results = checked_results(results)
    if not results:
        raise InvalidParameter("figure: expected at least one result, got none")
    facets, lines = _labels(results)
    rows = [
        row
        for result, facet, line in zip(results, facets, lines, strict=True)
        for row in _curve(result, {"facet": facet, "line": line})
    ]
    title = " – ".join(dict.fromkeys([title, *(r.environment.note for r in results if r.environment.note)]))  # noqa: RUF001
    games = " or ".join(f"{each:,}" for each in sorted({result.replications for result in results}))
    subtitle = "one game each, so no band" if games == "1" else f"mean of {games} games; band: 5 % to 95 % of the games"
    named, shown = (", ".join(dict.fromkeys(texts)) for texts in (lines, facets))
    alt = f"{title}: regret against rounds for {named} under {shown}"
    chosen = style_named(style)
    return for_file(lines_figure(rows, axis="round", title=title, subtitle=[subtitle], alt=alt, style=chosen))


def _labels(results: Sequence[Result]) -> tuple[list[str], list[str]]:
    """The facet and the line of each result: what differs between games is in the facets, a seed in the lines."""
    arms, horizons = (
        {*map(str, each)} for each in zip(*((spec_of(r.environment), r.horizon) for r in results), strict=True)
    )
    seeds, clipped = {result.seed for result in results}, {result.bounded for result in results}
    facets, lines = [], []
    for result in results:
        attack = "no attack" if result.adversary is None else spec_of(result.adversary)
        more = [spec_of(result.environment)] if len(arms) > 1 else []
        more += [f"T = {result.horizon:,}"] if len(horizons) > 1 else []
        more += ["rewards not clipped"] if len(clipped) > 1 and not result.bounded else []
        facets.append(", ".join([attack, *more, *result.conditions()]))
        lines.append(spec_of(result.policy))
    places = [*zip(facets, lines, strict=True)]
    if len({*places}) < len(places) and len(seeds) > 1:
        lines = [f"{line}, seed {result.seed}" for line, result in zip(lines, results, strict=True)]
        places = [*zip(facets, lines, strict=True)]
    for k, (facet, line) in enumerate(places):
        if (facet, line) in places[:k]:
            raise InvalidParameter(f"results[{k}]: expected one that looks different, got {line} under {facet} again")
    return facets, lines


def _curve(result: Result, labels: dict[str, str]) -> list[dict[str, Any]]:
    low, high = np.quantile(result.pseudo_regret, [0.05, 0.95], axis=0)
    columns = {"x": result.checkpoints, "mean": result.pseudo_regret.mean(axis=0), "low": low, "high": high}
    return [labels | {key: column[i].item() for key, column in columns.items()} for i in range(len(low))]
