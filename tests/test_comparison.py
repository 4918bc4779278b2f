"""Comparisons against SciPy, and how often their intervals hold."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import vambrace as vb
from effort import repeated
from vambrace.comparison import average_ranks, holm
from vambrace.errors import InvalidParameter, UnknownName
from vambrace.parameters import spec_of
from vambrace.statistics import student_limit

ENVIRONMENTS = (vb.Bernoulli([0.9, 0.5]), vb.Bernoulli([0.6, 0.5, 0.4]))
ATTACKS = (None, vb.Conceal(budget=5), vb.Conceal(budget=50), vb.Swap(budget=5))
POLICIES = (vb.UCB1(), vb.Thompson(), vb.SE(), vb.SEWR(budget=5), vb.MOSS(), vb.KLUCB())
TEMPLATE = vb.simulate(vb.UCB1(), ENVIRONMENTS[0], horizon=10, replications=2, checkpoints=1, interpret=True)


def result(policy: Any, environment: Any, attack: Any, regrets: Any, **changes: Any) -> vb.Result:
    """A result with these final regrets."""
    values = np.array(regrets, dtype=float).reshape(-1, 1)
    game = {"policy": policy, "environment": environment, "adversary": attack}
    return replace(TEMPLATE, **game, pseudo_regret=values, replications=len(values), **changes)


def random_study(rng: np.random.Generator) -> list[vb.Result]:
    """Policies in games, with regrets that have a part in common; whole numbers, so that some are equal."""
    games = [(env, attack) for env in ENVIRONMENTS for attack in ATTACKS][: rng.integers(1, 9)]
    policies, n = POLICIES[: rng.integers(2, 7)], int(rng.integers(2, 30))
    scale = rng.choice([1.0, 20.0])
    found = []
    for env, attack in games:
        common = rng.normal(0, 5, n)
        for policy in policies:
            regrets = np.round((common + rng.normal(rng.normal(100, 3), 4, n)) / scale) * scale
            found.append(result(policy, env, attack, regrets))
    return found


def test_a_thousand_random_studies_against_scipy() -> None:
    rng = np.random.default_rng(19)
    limits = {k: stats.studentized_range.ppf(0.95, k, np.inf) for k in range(2, 7)}
    tied = 0
    studies = repeated(1000, quick=250)
    for _ in range(studies):
        results = random_study(rng)
        names = [*dict.fromkeys(each.policy.name for each in results)]
        k = len(names)
        base = names[rng.integers(k)]
        found = vb.compare(results, baseline=next(each.policy for each in results if each.policy.name == base))
        finals = np.array([each.pseudo_regret[:, 0] for each in results]).reshape(-1, k, results[0].replications)
        b = names.index(base)
        others = [j for j in range(k) if j != b]
        assert len(found.table) == len(finals) * len(others)
        assert found.table["policy"].to_list() == [spec_of(results[j].policy) for j in others] * len(finals)
        ours, theirs = finals[:, others], finals[:, [b]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about games that differ by the same number each time
            test = stats.ttest_rel(ours, np.broadcast_to(theirs, ours.shape), axis=2)
        varied = np.ptp(ours - theirs, axis=2).ravel() > 0  # SciPy has no answer for the others
        expected = {"difference": (ours - theirs).mean(axis=2), "p": test.pvalue}
        expected |= {"low": test.confidence_interval().low, "high": test.confidence_interval().high}
        expected["won"] = ((ours < theirs) + (ours == theirs) / 2).mean(axis=2)
        for name, values in expected.items():
            column = found.table[name].to_numpy()[varied]
            np.testing.assert_allclose(column, values.ravel()[varied], rtol=1e-8, atol=1e-9 if name != "p" else 0)
        ranks = stats.rankdata(finals.mean(axis=2), axis=1)
        tied += len({*ranks.ravel()} - {*map(float, range(1, k + 1))}) > 0
        assert dict(found.ranks.select("policy", "rank").iter_rows()) == pytest.approx(
            {spec_of(results[j].policy): mean for j, mean in enumerate(ranks.mean(axis=0))}
        )
        critical = limits[k] / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * len(finals)))
        assert found.critical_difference == pytest.approx(critical, rel=1e-9)
        if k > 2 and np.ptp(ranks) > 0:  # SciPy takes three or more
            expected_p = stats.friedmanchisquare(*finals.mean(axis=2).T).pvalue
            assert found.friedman_p == pytest.approx(expected_p, rel=1e-9)
        assert (found.ranks["differs"] == (found.ranks["behind"] > critical)).all()
    assert tied > studies / 10


def naive_holm(chances: list[float]) -> list[float]:
    """By the definition: reject the smallest at level a / m, the next at a / (m - 1), and stop at the first that fails.

    The adjusted value is the least level at which a test is rejected.
    """
    order = np.argsort(chances, kind="stable")
    needed = [chances[i] * (len(chances) - place) for place, i in enumerate(order)]
    adjusted = [0.0] * len(chances)
    for place, i in enumerate(order):
        adjusted[i] = min(1.0, max(needed[: place + 1]))
    return adjusted


def test_holm_by_its_definition() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        chances = (rng.random(rng.integers(1, 12)) ** 4).tolist()
        assert holm(chances) == pytest.approx(naive_holm(chances))
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.01, float("nan"), 0.04])[::2] == pytest.approx([0.02, 0.04])  # what is no test is not counted
    assert holm([]) == []


def test_the_family_is_every_row_of_the_table() -> None:
    found = vb.compare(random_study(np.random.default_rng(4)))
    assert len(found.table) > 1
    assert found.table["adjusted_p"].to_list() == pytest.approx(naive_holm(found.table["p"].to_list()))


def test_ranks_of_equal_values_are_shared() -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        values = rng.integers(0, 4, rng.integers(1, 9)).astype(float)
        assert average_ranks(values) == stats.rankdata(values).tolist()


def coverage(differences: Any, n: int) -> float:
    """How often the interval of a study of n replications holds the mean of all of them, by `compare`."""
    studies = differences[: len(differences) // n * n].reshape(-1, n)
    env, truth, held = ENVIRONMENTS[0], differences.mean(), 0
    for study in studies:
        pair = [result(vb.UCB1(), env, None, np.zeros(n)), result(vb.Thompson(), env, None, study)]
        row = vb.compare(pair).table.row(0, named=True)
        held += row["low"] <= truth <= row["high"]
    return held / len(studies)


@pytest.mark.parametrize("n", [5, 20])
def test_intervals_hold_in_95_of_100_studies_of_normal_differences(n: int) -> None:
    """They are exact there; with 2,000 studies the share leaves [93 %, 97 %] with probability 5e-5, with 800 0.01."""
    differences = np.random.default_rng(n).normal(3.0, 2.0, (repeated(2_000, quick=800), n))
    centred = differences - differences.mean() + 3.0
    assert 0.93 <= coverage(centred.ravel(), n) <= 0.97


@pytest.mark.slow  # two minutes
@pytest.mark.parametrize("attack", [None, vb.Conceal(budget=20)], ids=["no attack", "conceal"])
@pytest.mark.parametrize("rival", [vb.Thompson(), vb.SEWR(budget=20)], ids=["thompson", "se-wr"])
def test_intervals_hold_in_95_of_100_studies_of_real_games(rival: vb.Policy, attack: vb.Adversary | None) -> None:
    """2,000 studies of 20 replications of 1,000 rounds; differences from Thompson are skewed.

    If the share is 95 %, it leaves [93 %, 97 %] with probability 5e-5 in each of the four; the truth is the mean of
    40,000 games, which is 45 times nearer than the intervals are wide.
    """
    env = vb.Bernoulli([0.9, 0.8, 0.5])
    options: dict[str, Any] = {"horizon": 1_000, "replications": 40_000, "seed": 3, "checkpoints": [1_000]}
    ours, theirs = (
        vb.simulate(policy, env, attack, **options, realized=False, interpret=False).pseudo_regret[:, -1]
        for policy in (rival, vb.UCB1())
    )
    assert 0.93 <= coverage(ours - theirs, 20) <= 0.97


def test_one_replication_has_no_interval_and_equal_games_no_difference() -> None:
    env = ENVIRONMENTS[0]
    single = vb.compare([result(vb.UCB1(), env, None, [3.0]), result(vb.Thompson(), env, None, [2.0])])
    row = single.table.row(0, named=True)
    assert (row["difference"], row["low"], row["high"], row["p"], row["adjusted_p"]) == (-1, None, None, None, None)
    assert "thompson on bernoulli:means=0.9/0.5, no attack, T = 10:\n    -1.0, won 100%\n" in str(single)
    for regrets, p in (([3.0, 4.0], 1.0), ([1.0, 2.0], 0.0)):
        same = vb.compare([result(vb.UCB1(), env, None, [3.0, 4.0]), result(vb.Thompson(), env, None, regrets)])
        row = same.table.row(0, named=True)
        assert row["low"] == row["high"] == row["difference"] == regrets[0] - 3.0
        assert row["p"] == p


def test_only_games_that_all_have_played_are_ranked() -> None:
    one, other = ENVIRONMENTS
    results = [result(policy, one, None, [k, k + 1]) for k, policy in enumerate(POLICIES[:3])]
    found = vb.compare([*results, result(POLICIES[0], other, None, [1, 2]), result(POLICIES[2], other, None, [0, 0])])
    assert found.ranks["games"].to_list() == [1, 1, 1]
    assert found.ranks["best"].to_list() == [1, 0, 0]
    assert [row[0] for row in found.table.select("policy").iter_rows()] == ["thompson", "se", "se"]
    apart = vb.compare([results[0], result(POLICIES[1], other, None, [1, 2])])
    assert (len(apart.table), len(apart.ranks), apart.critical_difference, apart.friedman_p) == (0, 0, None, None)
    assert apart.table.schema == found.table.schema
    assert apart.ranks.schema == found.ranks.schema


def test_games_that_are_no_pairs_are_refused() -> None:
    env, first = ENVIRONMENTS[0], result(vb.UCB1(), ENVIRONMENTS[0], None, [1.0, 2.0])
    for change in ({"seed": 9}, {"bounded": False}):
        with pytest.raises(InvalidParameter, match=f"expected the same {next(iter(change))} in one game, got"):
            vb.compare([first, result(vb.Thompson(), env, None, [1.0, 2.0], **change)])
    with pytest.raises(InvalidParameter, match="expected the same replications in one game, got 2 for ucb1 and 3 for"):
        vb.compare([first, result(vb.Thompson(), env, None, [1.0, 2.0, 3.0])])
    with pytest.raises(InvalidParameter, match="expected each policy once in a game, got ucb1 twice"):
        vb.compare([first, result(vb.UCB1(), env, None, [1.0, 3.0])])
    with pytest.raises(InvalidParameter, match="at least one finished game"):
        vb.compare([])
    with pytest.raises(InvalidParameter, match=r"results\[1\]: expected a vambrace.Result, got 3"):
        vb.compare([first, 3])  # type: ignore[list-item]
    for wrong in (first, {"ucb1": first}, "out/mine"):  # a folder is read by lab.load
        with pytest.raises(InvalidParameter, match=r"^results: expected a list of vambrace.Result, got "):
            vb.compare(wrong)  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="unknown baseline 'ucb'; did you mean 'ucb1'"):
        vb.compare([first], baseline="ucb")
    late = result(vb.Thompson(), env, None, [1.0, 2.0], delay=vb.Delay.fixed(3))
    assert len(vb.compare([first, late]).table) == 0  # another game


def test_what_is_said_about_it_names_the_methods() -> None:
    found = vb.compare(random_study(np.random.default_rng(8)))
    assert all(word in found.method for word in ("Student", "Holm", "Nemenyi", found.baseline))
    assert isinstance(found.table, pl.DataFrame)
    assert student_limit(0.05, 19) == pytest.approx(stats.t.ppf(0.975, 19))
