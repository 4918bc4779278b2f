import numpy as np

from vambrace.report.bands import bootstrap


def test_the_mean_and_a_band_around_it() -> None:
    values = np.random.default_rng(1).normal([[0.0, 10.0]], [[1.0, 3.0]], size=(50, 2))
    band = bootstrap(values)
    assert np.array_equal(band.mean, values.mean(axis=0))
    error = values.std(axis=0) / np.sqrt(50)  # what a band of 95 % is about, 1.96 times to either side
    assert np.allclose((band.high - band.low) / error, 2 * 1.96, rtol=0.15)
    assert np.all((band.low < band.mean) & (band.mean < band.high))


def test_it_covers_the_truth_as_often_as_it_says() -> None:
    """Of 400 samples of 40, 93 % are expected; fewer than 89 % has a chance below 1e-3, and so has 98 % or more."""
    rng = np.random.default_rng(7)
    bands = [bootstrap(rng.exponential(1.0, size=(40, 1))) for _ in range(400)]
    share = np.mean([band.low[0] <= 1.0 <= band.high[0] for band in bands])
    assert 0.89 <= share < 0.98


def test_one_replication_has_no_width_and_pictures_can_be_made_again() -> None:
    one = bootstrap(np.array([[1.0, 2.0]]))
    assert (one.low.tolist(), one.high.tolist()) == ([1.0, 2.0], [1.0, 2.0])
    values = np.random.default_rng(2).random((5, 3))
    assert np.array_equal(bootstrap(values).low, bootstrap(values).low)
