import dataclasses
import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import vambrace as vb
from vambrace.errors import NotComputed

MEASURES = ("pseudo_regret", "cost", "realized_regret", "observed_regret")


def simulated(**changed: Any) -> vb.Result:
    parameters: dict[str, Any] = {
        "policy": vb.UCB1(),
        "environment": vb.Bernoulli([0.9, 0.5, 0.1]),
        "attack": vb.Conceal(budget=2.5, arm=1),
        "horizon": 40,
        "replications": 5,
        "seed": 1,
        "checkpoints": [10, 20],
        "interpret": True,
    }
    return vb.simulate(**parameters | changed)


@pytest.fixture(scope="module")
def result() -> vb.Result:
    return simulated()


@pytest.fixture(scope="module")
def partial() -> vb.Result:
    """Realised and observed regret are not computed: there is no closed form for sums of Beta rewards."""
    return simulated(environment=vb.Beta([0.9, 0.5, 0.1]), attack=None, replications=1)


def test_rows_are_replications_and_columns_are_checkpoints(result: vb.Result) -> None:
    assert result.checkpoints.tolist() == [10, 20, 40]
    for name in MEASURES:
        values = getattr(result, name)
        assert (values.shape, str(values.dtype)) == ((5, 3), "float64")
    assert (result.pulls.shape, str(result.pulls.dtype)) == ((5, 3), "int64")
    assert (result.pulls.sum(axis=1) == 40).all()
    assert (result.horizon, result.replications, result.seed, result.bounded) == (40, 5, 1, True)
    assert result.engine in ("rounds", "leap")


def test_the_measures_agree_with_each_other(result: vb.Result) -> None:
    np.testing.assert_allclose(result.pseudo_regret[:, -1], result.pulls @ [0.0, 0.4, 0.8])
    assert (np.diff(result.pseudo_regret, axis=1) >= 0).all()
    assert (np.diff(result.cost, axis=1) >= 0).all()
    assert result.cost.max() == 2.5
    shift = result.observed_regret - result.realized_regret
    assert (abs(shift) <= 2 * result.cost).all()
    assert shift[:, -1] == pytest.approx(result.cost[:, -1])  # what was taken was not the best arm's


def test_a_result_cannot_be_changed(result: vb.Result) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.horizon = 3  # type: ignore[misc]


def test_the_summary_is_json_and_says_what_numpy_says(result: vb.Result) -> None:
    summary = json.loads(json.dumps(result.summary(), allow_nan=False))
    assert summary == result.summary()
    for name in MEASURES:
        final = getattr(result, name)[:, -1]
        assert summary.pop(name) == pytest.approx(
            {
                "mean": np.mean(final),
                "standard_error": np.std(final, ddof=1) / np.sqrt(5),
                "q05": np.quantile(final, 0.05),
                "median": np.median(final),
                "q95": np.quantile(final, 0.95),
            }
        )
    assert summary.pop("share_of_pulls") == pytest.approx(result.pulls.sum(axis=0) / 200)
    names = {
        "policy": "ucb1",
        "environment": "bernoulli:means=0.9/0.5/0.1",
        "adversary": "conceal:budget=2.5,arm=1",
        "engine": result.engine,
    }
    prompt = {"delay": None, "lost": 0.0, "arms_open": None}
    assert summary == {**names, **prompt, "horizon": 40, "replications": 5, "seed": 1}


def test_the_frame_has_a_row_for_each_replication_and_checkpoint(result: vb.Result) -> None:
    expected = pl.DataFrame(
        [
            {"replication": r, "round": t, **{name: float(getattr(result, name)[r, c]) for name in MEASURES}}
            for r in range(5)
            for c, t in enumerate([10, 20, 40])
        ]
    )
    assert_frame_equal(result.to_frame(), expected, check_exact=True)


def test_what_was_not_computed_is_said_and_left_out(partial: vb.Result) -> None:
    for name in ("realized_regret", "observed_regret"):
        with pytest.raises(NotComputed, match=f"^{name}: expected a run with realized=True, "):
            getattr(partial, name)
        assert not hasattr(partial, name)
        assert name not in partial.summary()
    assert partial.to_frame().columns == ["replication", "round", "pseudo_regret", "cost"]
    assert partial.summary()["adversary"] is None
    assert hasattr(simulated(environment=vb.Beta([0.9, 0.5, 0.1]), realized=True), "realized_regret")


def test_one_replication_has_no_spread(partial: vb.Result) -> None:
    regret = partial.summary()["pseudo_regret"]
    assert [regret[name] for name in ("standard_error", "q05", "q95")] == [None, None, None]
    assert regret["mean"] == regret["median"] == partial.pseudo_regret[0, -1]


def test_str_is_one_sentence(result: vb.Result, partial: vb.Result) -> None:
    regret, cost = result.summary()["pseudo_regret"], result.summary()["cost"]["mean"]
    assert str(result) == (
        f"ucb1 against conceal:budget=2.5,arm=1: regret {regret['mean']:.1f} ± {regret['standard_error']:.1f} "
        f"after 40 rounds (mean ± standard error of 5 replications), cost {cost:.1f}"
    )
    alone = partial.pseudo_regret[0, -1]
    assert str(partial) == f"ucb1 without attack: regret {alone:.1f} after {partial.horizon} rounds"


def test_plot_draws_the_result(result: vb.Result) -> None:
    assert "ucb1" in result.plot().to_dict()["description"]
