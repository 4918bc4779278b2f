import dataclasses
import json

from command_line import Run, assert_mistake, widest
from vambrace import theory


def test_bounds_are_printed_and_orders_marked(run: Run) -> None:
    words = ["bounds", "--policy", "pe-wr", "--gaps", "0.1,0.2", "--horizon", "1e6", "--budget", "50"]
    found = theory.bounds("pe-wr", gaps=[0.1, 0.2], horizon=10**6, budget=50)
    assert json.loads(run(*words, "--json").out) == [dataclasses.asdict(bound) for bound in found]
    shown = run(*words)
    assert (shown.code, shown.err) == (0, "")
    assert widest(shown.out) <= 80
    lines = [" ".join(line.split()) for line in shown.out.splitlines()]
    for bound in found:
        regret = lines[lines.index(bound.name) + 2]
        assert regret == f"regret {'' if bound.explicit else '~ '}{bound.value:,.0f}"
    words_printed = " ".join(shown.out.split())
    for bound in found:
        assert bound.holds in words_printed
        assert bound.formula in words_printed


def test_the_parameters_of_a_policy_choose_its_bounds(run: Run) -> None:
    words = ["--gaps", "0.1,0.2", "--budget", "50", "--json"]
    found = json.loads(run("bounds", "--policy", "se-wr:radius=tight", *words).out)
    assert [bound["name"] for bound in found if bound["kind"] == "upper"] == ["SE-WR, gap-dependent, radius tight"]
    size = {"horizon": 10**6, "budget": 50, "delta": 0.01}
    (expected,) = (b for b in theory.bounds("se-wr:radius=tight", gaps=[0.1, 0.2], **size) if b.kind == "upper")  # type: ignore[arg-type]
    done = run("bounds", "--policy", "se-wr:radius=tight,budget=50,delta=0.01", "--gaps", "0.1,0.2")
    assert f"{expected.value:,.0f}" in done.out


def test_no_upper_bound_is_said_plainly(run: Run) -> None:
    note = "The catalogue has no upper bound for se-wr:radius=kl"
    assert note in run("bounds", "--policy", "se-wr:radius=kl", "--gaps", "0.1").out
    for policy in ("ucb1", "cw-oful"):
        words = " ".join(run("bounds", "--policy", policy, "--gaps", "0.1").out.split())
        assert (
            f"no upper bound for {policy}. It has some for kl-ucb-wr, ms-se-wr, pe-wr, se, se-wr, se-wr-stop." in words
        )
    assert "no upper bound" not in run("bounds", "--policy", "se-wr", "--gaps", "0.1").out
    given = ("bounds", "--policy", "se-wr:budget=5", "--gaps", "0.1")
    words = " ".join(run(*given, "--budget", "6").out.split())
    assert "no upper bound for se-wr:budget=5 against an attacker who may spend 6." in words
    assert "no upper bound" not in run(*given, "--budget", "5").out
    assert "no upper bound" not in run(*given).out


def test_an_unknown_policy_is_a_mistake(run: Run) -> None:
    assert_mistake(run("bounds", "--policy", "se_wr", "--gaps", "0.1"))


def test_the_price_of_armour(run: Run) -> None:
    found = json.loads(run("bounds", "--price", "--arms", "5", "--budget", "1000", "--json").out)
    assert [bound["value"] for bound in found] == [4000]
    words = ["bounds", "--price", "--gaps", "0.1,0.2,0.3,0.4", "--best-mean", "0.9", "--budget", "1e6"]
    shown = run(*words, "--horizon", "1e12")
    assert (shown.code, shown.err) == (0, "")
    assert widest(shown.out) <= 80
    (limit, quiet, attacked, low, _) = theory.prices(
        5, budget=1e6, horizon=10**12, gaps=[0.1, 0.2, 0.3, 0.4], best_mean=0.9
    )
    assert low.value < limit.value < quiet.value < attacked.value
    for bound in (quiet, attacked, low):
        assert f"{bound.value:,.0f}" in shown.out


def test_the_price_needs_arms_and_a_budget(run: Run) -> None:
    for words in (
        ["--price"],
        ["--price", "--arms", "5"],
        ["--price", "--arms", "5", "--gaps", "0.1", "--budget", "3"],
        ["--price", "--policy", "ucb1", "--arms", "5", "--budget", "3"],
        ["--price", "--arms", "1", "--budget", "3"],
        ["--price", "--arms", "3", "--budget", "3", "--best-mean", "0.5"],
        ["--price", "--gaps", "0.1", "--budget", "3", "--delta", "7"],
        ["--policy", "ucb1"],
        [],
    ):
        assert_mistake(run("bounds", *words))


def test_no_lower_bound_is_above_an_upper_one() -> None:
    """Arms as good as the best cost nothing, and a perfect arm cannot be beaten."""
    for gaps, best_mean in (([0.0, 0.0, 0.1], 0.5), ([0.1, 0.2], 1.0), ([0.0], 0.5)):
        size = {"horizon": 10**12, "budget": 1e6, "gaps": gaps, "best_mean": best_mean}
        for found in (theory.prices(len(gaps) + 1, **size), theory.bounds("kl-ucb-wr", **size)):  # type: ignore[arg-type]
            upper = [bound.value for bound in found if bound.kind == "upper"]
            quiet = [bound.value for bound in found if "nobody attacks" in bound.name]
            attacked = [bound.value for bound in found if bound.name.startswith("price in this game, C")]
            assert all(low <= min(upper) for low in quiet)
            assert all(low <= max(upper) for low in attacked)
