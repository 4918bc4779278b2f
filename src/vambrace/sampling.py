"""Random numbers as kernels: the same bits compiled and interpreted, on every thread and machine.

A stream is a uint64 array of four words that a draw changes in place: the state of xoshiro256++ (Blackman and Vigna
2021). Streams are spawned from NumPy's `SeedSequence`, one for each (replication, role), so that they are independent
and adding a policy or a thread does not change other numbers.
"""

from math import erfc, exp, floor, log, log1p, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from vambrace.kernels import kernel, rare_kernel
from vambrace.statistics import log_binomial_mass

Stream = NDArray[np.uint64]

WORD = 0xFFFFFFFFFFFFFFFF  # keeps Python's integers to the 64 bits that a machine word has anyway


def stream(seed: int, *key: int) -> Stream:
    """The stream of a seed and a key, for example (replication, role)."""
    words = np.random.SeedSequence(entropy=seed, spawn_key=key).generate_state(4, np.uint64)
    return words.astype(np.uint64, copy=False)


@kernel
def next_word(rng: Stream) -> int:
    """The next 64 bits of xoshiro256++."""
    a, b, c, d = int(rng[0]), int(rng[1]), int(rng[2]), int(rng[3])
    total = (a + d) & WORD
    word = ((((total << 23) & WORD) | (total >> 41)) + a) & WORD
    shifted = (b << 17) & WORD
    c, d = c ^ a, d ^ b
    b, a = b ^ c, a ^ d
    rng[0], rng[1], rng[2], rng[3] = a, b, c ^ shifted, ((d << 45) & WORD) | (d >> 19)
    return word


@kernel
def uniform(rng: Stream) -> float:
    """A multiple of 2^-53 in [0, 1)."""
    return (next_word(rng) >> 11) * 1.1102230246251565e-16  # 2^-53


@kernel
def normal(rng: Stream) -> float:
    """A standard normal draw: Marsaglia's polar method."""
    while True:
        x, y = 2.0 * uniform(rng) - 1.0, 2.0 * uniform(rng) - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return x * sqrt(-2.0 * log(square) / square)


ZIGGURAT_TAIL = 3.6541528853610088  # where the lowest of 256 layers of equal area under exp(-x^2 / 2) meets the tail


def _ziggurat_edges() -> NDArray[np.float64]:
    """The width of each layer, from the lowest, whose width includes the tail, to the top."""
    height = exp(-0.5 * ZIGGURAT_TAIL**2)
    area = ZIGGURAT_TAIL * height + sqrt(0.5 * pi) * erfc(ZIGGURAT_TAIL / sqrt(2.0))
    edges = [area / height, ZIGGURAT_TAIL]
    while len(edges) < 256:
        edges.append(sqrt(-2.0 * log(area / edges[-1] + exp(-0.5 * edges[-1] ** 2))))
    return np.array([*edges, 0.0])


OUTER_EDGES = _ziggurat_edges()[:-1].copy()
INNER_EDGES = _ziggurat_edges()[1:].copy()  # of the next layer: a point within it is under the curve


@kernel
def quick_normal(rng: Stream) -> float:
    """A standard normal draw by the ziggurat (Marsaglia and Tsang 2000): mostly one word, no logarithm."""
    while True:
        word = next_word(rng)
        layer = word & 255
        x = ((word >> 11) * 2.220446049250313e-16 - 1.0) * OUTER_EDGES[layer]  # 2^-52: a place in [-1, 1)
        if abs(x) < INNER_EDGES[layer]:
            return x
        x = _normal_at_the_edge(layer, x, rng)
        if x < np.inf:
            return x


@rare_kernel
def _normal_at_the_edge(layer: int, x: float, rng: Stream) -> float:
    """The draw if it is under the curve, otherwise infinity; in the lowest layer a draw from the tail."""
    if layer == 0:
        while True:
            beyond = -log(1.0 - uniform(rng)) / ZIGGURAT_TAIL
            if -2.0 * log(1.0 - uniform(rng)) > beyond * beyond:
                return ZIGGURAT_TAIL + beyond if x > 0.0 else -ZIGGURAT_TAIL - beyond
    low, high = exp(-0.5 * OUTER_EDGES[layer] ** 2), exp(-0.5 * INNER_EDGES[layer] ** 2)
    return x if low + uniform(rng) * (high - low) < exp(-0.5 * x * x) else np.inf


@rare_kernel
def log_gamma_draw(shape: float, rng: Stream) -> float:
    """The logarithm of a Gamma(shape) draw: Marsaglia and Tsang (2000); in logs, so that a tiny shape is safe."""
    boost = 0.0
    if shape < 1.0:
        boost = log(1.0 - uniform(rng)) / shape
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)
    while True:
        x = normal(rng)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        if log(1.0 - uniform(rng)) < 0.5 * x * x + d - d * v + d * log(v):
            return log(d) + log(v) + boost


@kernel
def beta_draw(alpha: float, beta: float, rng: Stream) -> float:
    """A Beta(alpha, beta) draw, as a ratio of two gamma draws."""
    difference = log_gamma_draw(beta, rng) - log_gamma_draw(alpha, rng)
    if difference > 700.0:  # exp would overflow; the draw is below 1e-304
        return 0.0
    return 1.0 / (1.0 + exp(difference))


SQUEEZE = 6.0 * 0.0331  # Marsaglia and Tsang's, in units of the square of the largest width, 1 / 6


@kernel
def gamma_width(shape: float) -> float:
    """The width that `quick_beta_draw` needs for a shape; keep it while the shape stays the same."""
    return 1.0 / sqrt(9.0 * (shape - 1.0 / 3.0))


@kernel
def quick_beta_draw(alpha: float, alpha_width: float, beta: float, beta_width: float, rng: Stream) -> float:
    """A Beta(alpha, beta) draw for shapes of at least one, several times as fast as `beta_draw`.

    Two gamma draws of Marsaglia and Tsang (2000), accepted or rejected together. The ratio of the densities is at least
    1 - SQUEEZE (width x^2)^2 for each (their 0.0331 x^4 at shape one, and less for a larger shape), so that logarithms
    are rarely needed.
    """
    while True:
        x, y = quick_normal(rng), quick_normal(rng)
        v, w = 1.0 + alpha_width * x, 1.0 + beta_width * y
        if v <= 0.0 or w <= 0.0:
            continue
        v, w = v * v * v, w * w * w
        x, y = x * x, y * y
        u = 1.0 - uniform(rng)
        p, q = alpha_width * x, beta_width * y
        a, b = alpha - 1.0 / 3.0, beta - 1.0 / 3.0
        if u < 1.0 - SQUEEZE * (p * p + q * q) or log(u) < (
            0.5 * (x + y) + a * (1.0 - v + log(v)) + b * (1.0 - w + log(w))
        ):
            return a * v / (a * v + b * w)


@rare_kernel
def binomial(n: int, p: float, rng: Stream) -> int:
    """The number of successes in n trials of probability p: exact for n up to 10^15.

    Inversion if fewer than 12 successes (or failures) are expected, otherwise Hörmann's transformed
    rejection BTRS (1993) with Loader's mass function in place of log-gamma, which loses all digits at large n.
    """
    if n <= 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    rare = p if p <= 0.5 else 1.0 - p  # the subtraction is exact
    k = _binomial_inversion(n, rare, rng) if n * rare < 12.0 else _binomial_rejection(n, rare, rng)
    return k if p <= 0.5 else n - k


@rare_kernel
def _binomial_inversion(n: int, p: float, rng: Stream) -> int:
    odds = p / (1.0 - p)
    u = uniform(rng)
    mass = exp(n * log1p(-p))
    k = 0
    while u >= mass and k < n:
        u -= mass
        k += 1
        mass *= odds * (n - k + 1) / k
        if mass < 1e-300:  # what is left of u is rounding
            break
    return k


@rare_kernel
def _binomial_rejection(n: int, p: float, rng: Stream) -> int:
    spread = sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    alpha = (2.83 + 5.1 / b) * spread
    mode = floor((n + 1) * p)
    centre = n * p + 0.5 - mode  # counting from the mode keeps the digits that n * p has lost at large n
    log_mode_mass = log_binomial_mass(float(mode), float(n), p)
    while True:
        v = uniform(rng)
        u = uniform(rng) - 0.5
        margin = 0.5 - abs(u)
        if margin == 0.0:
            continue
        k = int(mode) + int(floor((2.0 * a / margin + b) * u + centre))  # noqa: RUF046 - Numba's floor is a float
        if margin >= 0.07 and v <= 0.92 - 4.2 / b:
            return k
        if k < 0 or k > n:
            continue
        if v == 0.0:
            return k
        ratio = log_binomial_mass(float(k), float(n), p) - log_mode_mass
        if log(v * alpha / (a / (margin * margin) + b)) <= ratio:
            return k
