"""What an attacker learns: block risk tables, the hierarchical posterior and its sampler, each beside a plain-Python loop.

The loops do the same in floats, term by term, as the definitions are written. "Enclosed" is what the loops do not give: an error
bound with every number.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
from dpspec_inference import block, block as intervals
from dpspec_inference.block import realised_risks, risk_curve, summed_mean_posteriors
from dpspec_inference.hierarchy import Released, TwoLevels, gibbs, success

from reproductions.block_risk import PRIORS, detailed_rho

RHO, GROUP = detailed_rho("block"), detailed_rho("block-group")
FRACTIONS = tuple(map(Fraction, PRIORS))
RHOS = np.geomspace(1e-2, 10, 300)
ATTACK = TwoLevels(rho_block=RHO, rho_group=GROUP, others=27, prior="1/2")
RELEASED = Released(block=2, group=1, others=-1)
SWEEPS = 10_000
COUNTS = np.round(np.random.default_rng(0).normal(1, math.sqrt(1 / (2 * float(RHO))), 100_000))
"""Released counts of as many cells, as differences from the known count."""


def looped_risk(rho: float, prior: float) -> float:
    """The marginal risk by the definition (Kazan 2025, Section 2.3.1): a grid of outcomes, their masses, posteriors and sums."""
    reach = math.ceil(10 / math.sqrt(2 * rho))
    whole = total = 0.0
    for x in range(1 - reach, 2 + reach):
        mass = math.exp(-rho * (x - 1) ** 2)
        odds = (1 - prior) / prior * math.exp(min(-rho * (2 * x - 1), 700))
        whole += mass
        total += mass / (1 + odds)
    return total / whole / prior


def looped_table() -> list[float]:
    """Posteriors of the released values 1 to 5 and marginal risks, for every prior."""
    rho, found = float(RHO), []
    for prior in map(float, FRACTIONS):
        for x in range(1, 6):
            one, other = prior * math.exp(-rho * (x - 1) ** 2), (1 - prior) * math.exp(-rho * x * x)
            found.append(one / (one + other))
    return found + [looped_risk(rho, float(prior)) for prior in FRACTIONS]


def enclosed_table() -> list[float]:
    """The same, each between two doubles that are proved; the lower ones are compared."""
    posteriors, means = intervals.posteriors(range(1, 6), RHO, FRACTIONS), intervals.mean_posteriors(RHO, FRACTIONS)
    return [*posteriors.lower.ravel().tolist(), *(means.lower / [float(prior) for prior in FRACTIONS]).tolist()]


def enclosed_in_balls() -> list[float]:
    """The same to 64 bits and more, by ball arithmetic."""
    posteriors = block.ball_posteriors(range(1, 6), RHO, FRACTIONS)
    risks = [mean.scaled(1 / prior) for mean, prior in zip(summed_mean_posteriors(RHO, FRACTIONS), FRACTIONS, strict=True)]
    return [float(value.lower) for value in (*posteriors, *risks)]


def looped_risks() -> list[float]:
    """R' of every released count and prior, summed over the counts."""
    rho, found = float(RHO), []
    for prior in map(float, FRACTIONS):
        total = 0.0
        for x in COUNTS.tolist():
            one, other = prior * math.exp(-rho * (x - 1) ** 2), (1 - prior) * math.exp(-rho * x * x)
            total += one / (one + other) / prior
        found.append(total / len(COUNTS))
    return found


def exact_posterior() -> list[float]:
    return [float(ATTACK.posterior(RELEASED).lower)]


def looped_posterior() -> list[float]:
    """The two-level posterior by a double loop over the counts of the block and of the group."""
    rho, group, weights = float(RHO), float(GROUP), []
    for k1 in (0, 1):
        total = 0.0
        for k2 in range(k1, 61):
            gap = RELEASED.others - (k2 - k1)
            total += math.exp(-rho * (RELEASED.block - k1) ** 2 - group * (RELEASED.group - k2) ** 2 - rho / 27 * gap**2)
        weights.append(total / 2)
    return [weights[1] / sum(weights)]


def looped_gibbs() -> list[float]:
    """The sampler as it is usually written: both conditionals computed anew in every sweep."""
    source, rho, group, d = random.Random(1), float(RHO), float(GROUP), 27
    k1, ones = 0, 0
    rate = group + rho / d
    for _ in range(SWEEPS):
        centre = (group * RELEASED.group + rho / d * (RELEASED.others + k1)) / rate
        counts = range(k1, k1 + 25)
        k2 = source.choices(counts, [math.exp(-rate * (k - centre) ** 2) for k in counts])[0]
        middle = (d * RELEASED.block + (k2 - RELEASED.others)) / (d + 1)
        one = math.exp(-(d + 1) / d * rho * (1 - middle) ** 2) if k2 >= 1 else 0.0
        k1 = int(source.random() * (one + math.exp(-(d + 1) / d * rho * middle**2)) < one)
        ones += k1
    return [ones / SWEEPS]


def looped_success() -> list[float]:
    """The success over all releases: a triple loop, with the evidence of every (x2*, y1*) summed once."""
    rho, group = float(RHO), float(GROUP)
    blocks = {x: math.exp(-rho * (x - 1) ** 2) for x in range(-21, 24)}
    groups = {x: math.exp(-group * (x - 1) ** 2) for x in range(-13, 16)}
    others = {y: math.exp(-rho / 27 * y * y) for y in range(-107, 108)}
    whole = sum(blocks.values()) * sum(groups.values()) * sum(others.values())
    total = 0.0
    for x2, b in groups.items():
        for y, c in others.items():
            evidence = [
                sum(math.exp(-group * (x2 - k2) ** 2 - rho / 27 * (y - (k2 - k1)) ** 2) for k2 in range(k1, 40)) for k1 in (0, 1)
            ]
            between = math.log(evidence[1] / evidence[0]) if min(evidence) > 0 else 0.0
            total += sum(a * b * c for x, a in blocks.items() if rho * (2 * x - 1) + between > 0)
    return [total / whole]


def risks() -> list[float]:
    """R' of every released count and prior, in floats."""
    return [float(realised_risks(COUNTS, float(RHO), float(prior)).mean()) for prior in FRACTIONS]


def curves() -> list[float]:
    return [float(risk) for prior in FRACTIONS for risk in risk_curve(RHOS, float(prior))]


def looped_curves() -> list[float]:
    return [looped_risk(float(rho), float(prior)) for prior in FRACTIONS for rho in RHOS]


def sampled_posterior() -> list[float]:
    return [gibbs(ATTACK, RELEASED, sweeps=SWEEPS, seed=1).posterior]


def exact_success() -> list[float]:
    return [success(ATTACK, (1, 1)).right]
