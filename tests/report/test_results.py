"""`vb.figure` and `Result.plot`: several results in one figure, and never two games in one line."""

from typing import Any

import pytest

import vambrace as vb
from vambrace.errors import InvalidParameter, UnknownName

ARMS = vb.Bernoulli([0.9, 0.1])


def played(policy: vb.Policy, attack: vb.Adversary | None = None, **changes: Any) -> vb.Result:
    options: dict[str, Any] = {"environment": ARMS, "horizon": 30, "replications": 2, "checkpoints": [5]} | changes
    return vb.simulate(policy, attack=attack, interpret=True, **options)


def lines(figure: Any) -> list[tuple[str, str]]:
    """The facet and the line of each point at the first round."""
    rows = figure.to_dict()["vconcat"][0]["data"]["values"]
    return [(row["facet"], row["line"]) for row in rows if row["x"] == 5]


def test_a_result_is_plotted_with_others() -> None:
    one, other = played(vb.UCB1()), played(vb.SE())
    assert one.plot(other).to_dict() == vb.figure([one, other]).to_dict()
    assert lines(one.plot(other)) == [("no attack", "ucb1"), ("no attack", "se")]
    assert one.plot(title="Mine").to_dict()["title"]["text"] == "Mine"


def test_games_that_differ_in_more_than_the_policy_are_in_facets() -> None:
    base = played(vb.UCB1())
    other = played(vb.UCB1(), environment=vb.Bernoulli([0.9, 0.2]))
    assert lines(base.plot(other)) == [
        ("no attack, bernoulli:means=0.9/0.1", "ucb1"),
        ("no attack, bernoulli:means=0.9/0.2", "ucb1"),
    ]
    longer = played(vb.UCB1(), horizon=40)
    assert [facet for facet, _ in lines(base.plot(longer))] == ["no attack, T = 30", "no attack, T = 40"]
    late = played(vb.UCB1(), delay=vb.Delay.fixed(3))
    assert [facet for facet, _ in lines(base.plot(late))] == ["no attack", "no attack, delay fixed:3"]
    attacked = played(vb.UCB1(), vb.Conceal(budget=2))
    free = played(vb.UCB1(), vb.Conceal(budget=2), bounded=False)
    assert [facet for facet, _ in lines(attacked.plot(free))] == [
        "conceal:budget=2",
        "conceal:budget=2, rewards not clipped",
    ]


def test_seeds_are_lines_and_the_same_game_twice_is_refused() -> None:
    base = played(vb.UCB1())
    assert [line for _, line in lines(base.plot(played(vb.UCB1(), seed=1)))] == ["ucb1, seed 0", "ucb1, seed 1"]
    with pytest.raises(
        InvalidParameter, match=r"results\[1\]: expected one that looks different, got ucb1 under no attack"
    ):
        base.plot(base)


def test_no_results_are_no_figure_and_styles_have_names() -> None:
    with pytest.raises(InvalidParameter, match="figure: expected at least one result, got none"):
        vb.figure([])
    for wrong, message in (
        (played(vb.UCB1()), r"^results: expected a list of vambrace.Result, got Result\("),
        ([played(vb.UCB1()), 3], r"^results\[1\]: expected a vambrace.Result, got 3$"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            vb.figure(wrong)  # type: ignore[arg-type]
    assert "title" not in vb.figure([played(vb.UCB1())], style="paper").to_dict()
    with pytest.raises(UnknownName, match="unknown style 'print'"):
        vb.figure([played(vb.UCB1())], style="print")  # type: ignore[arg-type]
