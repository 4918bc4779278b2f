"""Random numbers: the reference generator, the laws, and the same bits compiled and interpreted.

Every statistical test has a false-alarm probability of at most one in a million and fixed seeds.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from effort import repeated
from vambrace.kernels import Slot, compiled, kernel
from vambrace.sampling import (
    SQUEEZE,
    Stream,
    beta_draw,
    binomial,
    gamma_width,
    next_word,
    normal,
    quick_beta_draw,
    quick_normal,
    stream,
    uniform,
)

FALSE_ALARM = 1e-6
SHAPES = [(1.0, 1.0), (1.0, 2.0), (3.0, 1.0), (2.0, 7.0), (1.0, 50.0), (300.0, 100.0), (900_000.0, 100_000.0)]


take = Slot("take")


@kernel
def fill(out: Any, rng: Stream, a: float, b: float) -> None:
    for i in range(len(out)):
        out[i] = take(a, b, rng)


@kernel
def take_uniform(a: float, b: float, rng: Stream) -> float:
    return uniform(rng)


@kernel
def take_normal(a: float, b: float, rng: Stream) -> float:
    return normal(rng)


@kernel
def take_beta(a: float, b: float, rng: Stream) -> float:
    return beta_draw(a, b, rng)


@kernel
def take_quick_normal(a: float, b: float, rng: Stream) -> float:
    return quick_normal(rng)


@kernel
def take_quick_beta(a: float, b: float, rng: Stream) -> float:
    return quick_beta_draw(a, gamma_width(a), b, gamma_width(b), rng)


@kernel
def take_binomial(n: int, p: float, rng: Stream) -> int:
    return binomial(n, p, rng)


def sample(law: Callable[..., Any], a: float, b: float, size: int, seed: int = 1, dtype: Any = np.float64) -> Any:
    out = np.zeros(size, dtype=dtype)
    compiled(fill, {"take": law})(out, stream(seed), a, b)
    return out


def test_xoshiro_is_the_published_generator() -> None:
    """The first words from the state (1, 2, 3, 4), as the authors' reference code gives them."""
    rng = np.array([1, 2, 3, 4], dtype=np.uint64)
    words = [next_word(rng) for _ in range(4)]
    assert words == [41943041, 58720359, 3588806011781223, 3591011842654386]


@pytest.mark.parametrize(
    ("law", "a", "b", "dtype"),
    [
        (take_uniform, 0.0, 0.0, np.float64),
        (take_normal, 0.0, 0.0, np.float64),
        (take_beta, 0.3, 4.0, np.float64),
        (take_quick_normal, 0.0, 0.0, np.float64),
        (take_quick_beta, 1.0, 4.0, np.float64),
        (take_binomial, 30, 0.1, np.int64),
        (take_binomial, 10**9, 0.7, np.int64),
    ],
)
def test_same_bits_compiled_and_interpreted(law: Any, a: Any, b: float, dtype: Any) -> None:
    rng = stream(9)
    assert sample(law, a, b, 300, seed=9, dtype=dtype).tolist() == [law(a, b, rng) for _ in range(300)]


@pytest.mark.parametrize(
    ("law", "a", "b", "truth"),
    [
        (take_uniform, 0.0, 0.0, stats.uniform()),
        (take_normal, 0.0, 0.0, stats.norm()),
        (take_beta, 0.5, 0.5, stats.beta(0.5, 0.5)),
        (take_beta, 2.0, 7.0, stats.beta(2.0, 7.0)),
        (take_beta, 300.0, 100.0, stats.beta(300.0, 100.0)),
        (take_quick_normal, 0.0, 0.0, stats.norm()),
        *((take_quick_beta, a, b, stats.beta(a, b)) for a, b in SHAPES),
    ],
)
def test_continuous_laws(law: Any, a: float, b: float, truth: Any) -> None:
    assert stats.kstest(sample(law, a, b, 200_000), truth.cdf).pvalue > FALSE_ALARM


def test_the_ziggurat_by_chi_square() -> None:
    """Its layers, its wedges and its tail: 400 equally likely cells, and the tail beyond the lowest layer finely."""
    draws = sample(take_quick_normal, 0.0, 0.0, 4_000_000)
    cells = stats.norm.cdf(draws)
    assert stats.chisquare(np.histogram(cells, 400, (0, 1))[0]).pvalue > FALSE_ALARM
    beyond = stats.norm.sf(np.abs(draws[np.abs(draws) > 3.6541528853610088])) / stats.norm.sf(3.6541528853610088)
    assert len(beyond) > 800  # 1,032 are expected
    assert stats.kstest(beyond, "uniform").pvalue > FALSE_ALARM


def test_the_squeeze_lies_below_the_ratio_of_densities() -> None:
    for shape in [1.0, 1.01, 1.5, 2.0, 5.0, 100.0, 1e6]:
        width, d = gamma_width(shape), shape - 1 / 3
        x = np.linspace(-0.9999 / width, 9.0, 200_001)
        x = x[(1.0 + width * x > 0.0) & (np.abs(x) < 9.0)]
        v = (1.0 + width * x) ** 3
        ratio = np.exp(0.5 * x * x + d * (1.0 - v + np.log(v)))
        assert ((1.0 - SQUEEZE * (width * x * x) ** 2) <= ratio + 1e-9).all()
        assert (ratio <= 1.0 + 1e-9).all()


def test_tiny_beta_shapes_stay_in_the_unit_interval() -> None:
    draws = sample(take_beta, 1e-3, 1e-3, 20_000)
    assert ((draws >= 0) & (draws <= 1)).all()
    assert abs(draws.mean() - 0.5) < 0.5 * 5 / np.sqrt(len(draws))


SMALL = [(1, 0.5), (5, 0.01), (20, 0.3), (40, 0.3), (100, 0.12), (100, 0.5), (1000, 0.013), (1000, 0.98), (50_000, 0.4)]


@pytest.mark.parametrize(("n", "p"), SMALL)
def test_binomial_by_chi_square(n: int, p: float) -> None:
    draws = sample(take_binomial, n, p, 400_000, dtype=np.int64)
    assert draws.min() >= 0
    assert draws.max() <= n
    # cells of at least 50 expected draws
    cuts = np.unique(stats.binom.ppf(np.linspace(0, 1, 200)[1:-1], n, p)).astype(int)
    expected = np.diff(np.concatenate([[0.0], stats.binom.cdf(cuts, n, p), [1.0]])) * len(draws)
    seen = np.histogram(draws, np.concatenate([[-0.5], cuts + 0.5, [n + 0.5]]))[0]
    keep = expected > 50
    seen, expected = (np.append(each[keep], each[~keep].sum() + 1e-9) for each in (seen, expected))
    statistic = ((seen - expected) ** 2 / np.maximum(expected, 1.0)).sum()
    assert stats.chi2.sf(statistic, keep.sum()) > FALSE_ALARM


@pytest.mark.parametrize(("n", "p"), [(10**6, 1e-5), (10**9, 0.5), (10**12, 0.015), (10**15, 0.5), (10**15, 1e-14)])
def test_binomial_at_large_n(n: int, p: float) -> None:
    """The probability transform of exact draws is uniform; scipy's survival function is good to 10^-10 here."""
    draws = sample(take_binomial, n, p, repeated(30_000, quick=10_000), dtype=np.int64)
    jitter = np.random.default_rng(3).random(len(draws))
    transformed = stats.binom.cdf(draws - 1, n, p) + jitter * stats.binom.pmf(draws, n, p)
    assert stats.kstest(transformed, "uniform").pvalue > FALSE_ALARM


def test_edges() -> None:
    rng = stream(1)
    assert [binomial(0, 0.5, rng), binomial(7, 0.0, rng), binomial(7, 1.0, rng)] == [0, 0, 7]


def test_streams_are_independent_of_each_other() -> None:
    streams = [tuple(stream(seed, r, role)) for seed in range(3) for r in range(5) for role in range(4)]
    assert len(set(streams)) == len(streams)
