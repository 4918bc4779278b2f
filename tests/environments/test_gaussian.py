"""Clipped Gaussian arms: the true mean is that of the clipped law."""

import pytest
from scipy import integrate, stats

import vambrace as vb


@pytest.mark.parametrize("centre", [0.0, 0.1, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("sigma", [0.01, 0.3, 5.0])
def test_means_by_integration(centre: float, sigma: float) -> None:
    law = stats.norm(centre, sigma)
    inside, _ = integrate.quad(lambda x: x * law.pdf(x), 0, 1, points=[centre] if 0 < centre < 1 else None, limit=200)
    assert vb.ClippedGaussian([centre], sigma=sigma).arm_means()[0] == pytest.approx(inside + law.sf(1), abs=1e-9)
