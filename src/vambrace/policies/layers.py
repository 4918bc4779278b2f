"""FSAAER and MLAAER: copies of active arm elimination, one of which is drawn in each round, against corruption.

Setting     K arms, rewards in [0, 1], horizon T; corruption (chosen before the arm is drawn), of at most `budget` for
            FSAAER, of unknown size for MLAAER.
Algorithm   The copy, or layer, plays its active arm with the fewest pulls. After an answer in a layer, an active arm
            falls there if another mean is higher by more than both widths sqrt(A / n) + c A / n, and in every layer
            below: a layer that is rarely drawn sees little of a corruption that does not know the draw, so that its
            means can be trusted.   Lykouris, Mirrokni, Paes Leme 2018
            FSAAER: a slow copy, with probability 1 / budget, c = 2; otherwise a fast one, c = 0; A = ln(8KT/delta).
            MLAAER: layers l = 1, ..., ceil(log2 T), each l > 1 with probability 2^-l, otherwise the first; c = 1 and
            A = ln(4KT log2(T)/delta).
Reading     Reconstruction from the statement of the algorithms. A layer without arms plays the first active arm of the
            next larger one that has any, and no layer learns from it. delta = K / T by default. With delayed feedback
            unanswered pulls of an arm count for every layer.
"""

from dataclasses import dataclass
from math import log, log2, sqrt
from typing import NamedTuple

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.parameters import Budget, Chance
from vambrace.policies.elimination import NEVER, fewest_pulled
from vambrace.protocols import Answer, Flags, Floats, Game, Integers, Policy, Round
from vambrace.sampling import Stream, uniform


class Layers(NamedTuple):
    """One row for each layer; the layer that is drawn most often comes first."""

    totals: Floats
    counts: Integers
    active: Integers  # active arms in index order; the first n_active entries of a row are valid
    dropped: Flags
    n_active: Integers
    floor: Integers  # smallest count of an active arm
    position: Integers  # of the first active arm with that count, which is played next
    stand_in: Integers  # the layer itself; if it has no arms, the next larger layer that has some
    next_test: Integers  # no arm can fall while all counts are below this
    chances: Floats
    cumulated: Floats  # chances of the layers from the second one on: zero for the first, and the last is their sum
    offsets: Floats  # c A
    log_term: float  # A


def make_layers(n_arms: int, chances: list[float], factors: list[float], log_term: float) -> Layers:
    """No arm pulled. `chances` excludes the first layer, which has the rest of one; layer l has c = factors[l]."""
    n_layers = len(factors)
    cumulated = np.cumsum([0.0, *chances])
    return Layers(
        totals=np.zeros((n_layers, n_arms)),
        counts=np.zeros((n_layers, n_arms), dtype=np.int64),
        active=np.tile(np.arange(n_arms), (n_layers, 1)),
        dropped=np.zeros((n_layers, n_arms), dtype=np.bool_),
        n_active=np.full(n_layers, n_arms),
        floor=np.zeros(n_layers, dtype=np.int64),
        position=np.zeros(n_layers, dtype=np.int64),
        stand_in=np.arange(n_layers),
        next_test=np.zeros(n_layers, dtype=np.int64),
        chances=np.array([1.0 - cumulated[-1], *chances]),
        cumulated=cumulated,
        offsets=log_term * np.array(factors),
        log_term=log_term,
    )


@kernel
def select(layers: Layers, round: Round, rng: Stream) -> tuple[int, float, int]:
    """The tag is the layer that the reward belongs to, or -1 if an empty layer borrowed an arm."""
    u, layer, probability = uniform(rng), 0, 0.0
    if u < layers.cumulated[-1]:
        layer = 1
        while u >= layers.cumulated[layer]:
            layer += 1
    arm = _choice(layers, layer, round)
    for each in range(len(layers.chances)):
        if _choice(layers, each, round) == arm:
            probability += layers.chances[each]
    return arm, probability, (layer if layers.stand_in[layer] == layer else -1)


@kernel
def _choice(layers: Layers, layer: int, round: Round) -> int:
    """The arm that is played if this layer is drawn."""
    source = layers.stand_in[layer]
    if source != layer:
        return layers.active[source, 0]
    if round.open > 0:  # they count in every layer, because it is not known here which layer they belong to
        return fewest_pulled(layers.active[layer], layers.n_active[layer], layers.counts[layer], round)
    return layers.active[layer, layers.position[layer]]


@kernel
def update(layers: Layers, answer: Answer) -> Layers:
    arm, reward, tag = answer.arm, answer.reward, answer.tag
    if tag >= 0:
        layers.totals[tag, arm] += reward
        layers.counts[tag, arm] += 1
        if layers.counts[tag, arm] >= layers.next_test[tag] or not 0.0 <= reward <= 1.0:
            _test(layers, tag)
        _advance(layers, tag)
    return layers


@kernel
def _advance(layers: Layers, layer: int) -> None:
    """Move on to the first active arm with the fewest pulls: counts only grow, so earlier arms need no check."""
    i, n_active = layers.position[layer], layers.n_active[layer]
    while i < n_active and layers.counts[layer, layers.active[layer, i]] > layers.floor[layer]:
        i += 1
    layers.position[layer] = i
    if i == n_active:  # a new sweep
        floor = NEVER
        for j in range(n_active):
            count = layers.counts[layer, layers.active[layer, j]]
            if count < floor:
                floor = count
                layers.position[layer] = j
        layers.floor[layer] = floor


@kernel
def _width(layers: Layers, layer: int, count: int) -> float:
    return sqrt(layers.log_term / count) + layers.offsets[layer] / count


@rare_kernel
def _test(layers: Layers, layer: int) -> None:
    """Drop every active arm that the one with the highest lower bound beats, here and in the layers below."""
    totals, counts = layers.totals[layer], layers.counts[layer]
    rival, highest = -1, -np.inf
    for i in range(layers.n_active[layer]):
        k = layers.active[layer, i]
        if counts[k] > 0:
            lower = totals[k] / counts[k] - _width(layers, layer, counts[k])
            if lower > highest:
                rival, highest = k, lower
    found = False
    for i in range(layers.n_active[layer]):
        k = layers.active[layer, i]
        if counts[k] > 0:
            both = _width(layers, layer, counts[rival]) + _width(layers, layer, counts[k])
            if totals[rival] / counts[rival] - totals[k] / counts[k] > both:
                found = True
                for below in range(layer + 1):
                    layers.dropped[below, k] = True
    if found:
        for below in range(layer, -1, -1):
            _renew(layers, below)
    layers.next_test[layer] = _next_test(layers, layer)


@kernel
def _renew(layers: Layers, layer: int) -> None:
    """The list of active arms after drops, larger layers first."""
    kept = 0
    for i in range(layers.n_active[layer]):
        k = layers.active[layer, i]
        if not layers.dropped[layer, k]:
            layers.active[layer, kept] = k
            kept += 1
    layers.n_active[layer] = kept
    if kept == 0:  # never the last layer: the arm with the highest lower bound stays
        layers.stand_in[layer] = layers.stand_in[layer + 1]
    layers.position[layer] = kept
    _advance(layers, layer)


@kernel
def _next_test(layers: Layers, layer: int) -> int:
    """A count that some arm must reach before any can fall, if rewards stay in [0, 1]; zero if no such count is known.

    At count n the best case for a drop is a rival that lost nothing more and an arm that won nothing more:
    (n - losses) - wins > 2 (sqrt(A n) + c A). It gets likelier with n, and its root is explicit.
    """
    if layers.n_active[layer] < 2:
        return NEVER
    fewest_wins, fewest_losses, most = np.inf, np.inf, 0
    for i in range(layers.n_active[layer]):
        k = layers.active[layer, i]
        fewest_wins = min(fewest_wins, layers.totals[layer, k])
        fewest_losses = min(fewest_losses, layers.counts[layer, k] - layers.totals[layer, k])
        most = max(most, layers.counts[layer, k])
    if fewest_wins < 0.0 or fewest_losses < 0.0:  # rewards outside of [0, 1]: more pulls need not make it likelier
        return 0
    room = fewest_wins + fewest_losses + 2.0 * layers.offsets[layer]
    root = sqrt(layers.log_term) + sqrt(layers.log_term + room)
    safe = int(min(root * root, float(NEVER)))
    return safe if safe > most else 0


class LayeredPolicy(Policy):
    """FSAAER and MLAAER, which differ in their layers."""

    reference = "Lykouris et al. 2018"
    randomized = True
    select, update = staticmethod(select), staticmethod(update)


@dataclass(frozen=True, kw_only=True)
class FSAAER(LayeredPolicy):
    """Fast-slow active arm elimination race: survives *corruption* of a known size, chosen before the arm is drawn.

    No protection against an attacker who sees the arm: it pays only for the pulls of the best arm.

    Args:
        budget: The corruption to assume.
        delta: The chance that the guarantee fails; None: K / T.

    Guarantee: O(sum over arms of ln(K T / delta) / gap) without corruption, and at most K budget ln(K T / delta) times
    as much with it.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.1]), vb.Invert(budget=50)
    >>> print(vb.simulate(vb.FSAAER(budget=50), env, attack, horizon=10_000, seed=1))
    fsaaer:budget=50 against invert:budget=50: regret 260.0 after 10,000 rounds, cost 50.0
    """

    name = "fsaaer"

    budget: Budget
    delta: Chance | None = None

    def init(self, game: Game) -> Layers:
        """The fast copy, then the slow one."""
        n_arms, horizon = game.n_arms, game.required_horizon
        delta = n_arms / horizon if self.delta is None else self.delta
        log_term = log(8.0) + log(n_arms) + log(horizon) - log(delta)
        return make_layers(n_arms, [1.0 / max(1.0, float(self.budget))], [0.0, 2.0], log_term)


@dataclass(frozen=True, kw_only=True)
class MLAAER(LayeredPolicy):
    """Multi-layer active arm elimination race: survives *corruption* of any size, chosen before the arm is drawn.

    No protection against an attacker who sees the arm: it pays only for the pulls of the best arm, in every layer.

    Args:
        delta: The chance that the guarantee fails; None: K / T.

    Guarantee: O(sum over arms of (K C ln(K T / delta) + ln T) ln(K T / delta) / gap) under corruption of size C: layer
    log2 C sees little of it and corrects the lower ones.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.1]), vb.Invert(budget=50)
    >>> print(vb.simulate(vb.MLAAER(), env, attack, horizon=10_000, seed=1))
    mlaaer against invert:budget=50: regret 1,113.6 after 10,000 rounds, cost 50.0
    """

    name = "mlaaer"

    delta: Chance | None = None

    def init(self, game: Game) -> Layers:
        """Row 0 is layer 1."""
        n_arms, horizon = game.n_arms, game.required_horizon
        n_layers = max(1, (horizon - 1).bit_length())  # ceil(log2 T), without rounding
        delta = n_arms / horizon if self.delta is None else self.delta
        log_term = log(4.0) + log(n_arms) + log(horizon) + log(max(1.0, log2(horizon))) - log(delta)
        return make_layers(n_arms, [0.5**layer for layer in range(2, n_layers + 1)], [1.0] * n_layers, log_term)
