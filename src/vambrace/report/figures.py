"""Figures: one definition of each gives SVG, PNG, PDF and a self-contained HTML page."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vambrace.engine.result import Result
from vambrace.errors import InvalidParameter, MissingExtra
from vambrace.files import whole_file
from vambrace.registry import spec_of

if TYPE_CHECKING:
    import altair

# Okabe and Ito's palette: told apart by everyone
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]  # a second sign beside colour
FORMATS = (".svg", ".png", ".pdf", ".html", ".json")


def regret_figure(results: Sequence[Result], *, title: str = "Regret") -> "altair.FacetChart":
    """Mean pseudo regret against rounds, one line for each policy, with the band from the 5 % to the 95 % quantile.

    Results against different adversaries come side by side on one scale.
    """
    if not results:
        raise InvalidParameter("figure: expected at least one result, got none")
    altair = load_altair()
    title = " – ".join(dict.fromkeys([title, *(r.environment.note for r in results if r.environment.note)]))  # noqa: RUF001
    panels = list(dict.fromkeys(_attack(result) for result in results))
    lines = list(dict.fromkeys(spec_of(result.policy) for result in results))
    rows = [row for result in results for row in _curve(result)]
    alt = f"{title}: regret against rounds for {', '.join(lines)} under {', '.join(panels)}"
    colours = altair.Scale(domain=lines, range=[COLOURS[i % len(COLOURS)] for i in range(len(lines))])
    dashes = altair.Scale(domain=lines, range=[DASHES[i % len(DASHES)] for i in range(len(lines))])
    axis = altair.Axis(labelExpr="format(datum.value, '~s')", tickCount=6)
    legend = altair.Legend(symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=2, symbolSize=300, labelLimit=300)
    base = altair.Chart(altair.Data(values=rows)).encode(
        x=altair.X("round:Q", title="round", axis=axis),
        color=altair.Color("policy:N", title="policy", sort=lines, scale=colours, legend=legend),
    )
    band = base.mark_area(opacity=0.18).encode(
        y=altair.Y("low:Q", title="pseudo regret (expected reward lost)", axis=axis), y2="high:Q"
    )
    line = base.mark_line(strokeWidth=2).encode(
        y=altair.Y("mean:Q"),
        strokeDash=altair.StrokeDash("policy:N", title="policy", sort=lines, scale=dashes),
    )
    layers = altair.layer(band, line, description=alt).properties(width=320, height=260)
    figure = layers.facet(column=altair.Column("attack:N", title=None, sort=panels))
    subtitle = f"mean and 5–95 % band of {results[0].replications} replications"  # noqa: RUF001
    return figure.properties(title=altair.TitleParams(title, subtitle=subtitle), description=alt)


def save(figure: Any, path: Path) -> None:
    """Write a figure in the format that the name ends in."""
    if path.suffix not in FORMATS:
        raise InvalidParameter(f"figure: expected a name ending in {', '.join(FORMATS)}, got {path.name!r}")
    options: dict[str, dict[str, Any]] = {".html": {"inline": True}, ".png": {"ppi": 144}}
    with whole_file(path) as unfinished:
        figure.save(unfinished, **options.get(path.suffix, {}))


def _curve(result: Result) -> list[dict[str, Any]]:
    low, high = np.quantile(result.pseudo_regret, [0.05, 0.95], axis=0)
    columns = zip(result.checkpoints, result.pseudo_regret.mean(axis=0), low, high, strict=True)
    labels = {"policy": spec_of(result.policy), "attack": _attack(result)}
    return [
        {**labels, "round": int(t), "mean": float(mean), "low": float(a), "high": float(b)} for t, mean, a, b in columns
    ]


def _attack(result: Result) -> str:
    return "no attack" if result.adversary is None else spec_of(result.adversary)


def load_altair() -> Any:
    """The library that draws, once somebody wants a figure."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise MissingExtra("figures: expected the extra vambrace[report] (altair, vl-convert), got none") from error
    return altair
