import numpy as np
import pytest

from vambrace.paper.fits import fit


def test_a_fit_finds_a_line_and_its_interval() -> None:
    rng = np.random.default_rng(1)
    x = [1.0, 2.0, 3.0, 4.0]
    samples = [5.0 + 3.0 * place + rng.normal(0, 0.5, 200) for place in x]
    line = fit(x, samples)
    assert line.low < 3.0 < line.high
    assert line.high - line.low < 0.2
    assert line.explained > 0.999
    assert fit(x, [np.array([2.0**place]) for place in x], np.log2).slope == pytest.approx(1.0)
