"""Flavours of the output divergence: verdicts, numbers recomputed from the definitions, and which of them imply which."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F
from statistics import NormalDist

import pytest
from dpspec_flavours.standards import (
    FDP,
    ApproximateDP,
    FDivergencePrivacy,
    GaussianDP,
    HockeyStickDP,
    LinearApproximateDP,
    LinearFDivergencePrivacy,
    LinearHockeyStickDP,
    LinearRenyiDP,
    PureDP,
    RenyiDP,
    RevealByChance,
    ZeroConcentratedDP,
)
from dpspec_noise import Laplace, RandomisedResponse

from dpspec import installed
from dpspec.api import compare
from dpspec.base.errors import IncompatibleBlocksError, ParameterError
from dpspec.base.exact import INFINITY, ln, number, sqrt
from dpspec.blocks.invariant import LinearMap
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.laws.law import FiniteLaw
from dpspec.reason.search import derive
from dpspec.specfile import read, to_toml
from dpspec.specfile.document import flavour_document
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome

BLOCKS = {
    kind: tuple(cls for cls in installed().registry.classes(kind) if cls.__module__.startswith("dpspec_flavours.standards"))
    for kind in ("flavours", "multiverses", "budgets", "mechanisms")
}

FLAVOURS = BLOCKS["flavours"]
SPACE = BitVectors(length=2)
REGISTRY = installed().registry

CONSTANTS = {
    PureDP: (ln(3), ln(4)),
    ApproximateDP: (ln(3), INFINITY),
    RenyiDP: (ln(F(7, 3)), ln(F(13, 4))),
    LinearRenyiDP: (ln(F(7, 3)), number(1)),
    LinearApproximateDP: (ln(3), INFINITY),
    LinearFDivergencePrivacy: (ln(5) * F(2, 3), number(2)),
    LinearHockeyStickDP: (number(F(1, 3)), number(F(11, 30))),
    ZeroConcentratedDP: (sqrt(F(61, 100)), sqrt(F(61, 50))),
    FDivergencePrivacy: (ln(5) * F(2, 3), INFINITY),
    HockeyStickDP: (number(F(1, 3)), number(F(5, 9))),
    FDP: (number(1), number(2)),
}
"""The constants of both examples, by hand; randomised response of ratio r has D_2 = ln((r^3 + 1)/(r^2 + r))."""


@pytest.mark.reference("B-D30")
@pytest.mark.parametrize("cls", FLAVOURS, ids=lambda cls: cls.name)
def test_one_example_satisfies_it_and_one_does_not(cls):
    flavour = cls()
    good, bad = (verify(e.mechanism, flavour.spec()) for e in (flavour.satisfied_by(), flavour.broken_by()))
    assert (good.outcome, bad.outcome) == (Outcome.VERIFIED, Outcome.REFUTED)
    assert not good.vacuous
    assert max(map(len, (bad.witness.left, bad.witness.right))) <= 3
    if cls in CONSTANTS:
        assert (good.constant.lower, bad.constant.lower) == CONSTANTS[cls]


def test_gaussian_privacy_by_hand():
    flavour = GaussianDP()
    assert verify(flavour.satisfied_by().mechanism, flavour.spec()).constant.lower == F(8, 5)
    refuted = verify(flavour.broken_by().mechanism, flavour.spec()).constant
    assert float(refuted.lower) == pytest.approx(2 * NormalDist().inv_cdf(0.8), abs=1e-14)


def masses(mechanism, dataset):
    return dict(mechanism.law(dataset, SPACE).probabilities())


def pairs(mechanism):
    """Every ordered pair of laws with the number of bits that differ."""
    datasets = list(itertools.product((0, 1), repeat=2))
    for x, y in itertools.permutations(datasets, 2):
        p, q = masses(mechanism, x), masses(mechanism, y)
        yield {o: (p.get(o, F(0)), q.get(o, F(0))) for o in {*p, *q}}.values(), sum(a != b for a, b in zip(x, y, strict=True))


INEQUALITIES = {
    ApproximateDP: lambda atoms, d: sum(max(p - 3**d * q, F(0)) for p, q in atoms) <= F(1, 100),
    RenyiDP: lambda atoms, d: sum(p * p / q for p, q in atoms) <= F(7, 3) ** d,
    HockeyStickDP: lambda atoms, d: sum(max(p - 3 * q, F(0)) for p, q in atoms) <= F(d, 3),
}
"""What a definition asks of two laws at distance d, in its linear form; the definition itself asks it at d = 1."""


@pytest.mark.reference("B-D16")
def test_definitions_by_brute_force():
    """The inequality of each definition, written out, on the laws of its satisfied mechanism."""
    for linear, near in ((LinearApproximateDP, ApproximateDP), (LinearRenyiDP, RenyiDP), (LinearHockeyStickDP, HockeyStickDP)):
        for flavour in (linear, near):
            for atoms, d in pairs(flavour().satisfied_by().mechanism):
                if flavour is linear or d == 1:
                    assert INEQUALITIES[near](list(atoms), d), flavour
    for flavour in (LinearFDivergencePrivacy, FDivergencePrivacy):
        for atoms, d in pairs(flavour().satisfied_by().mechanism):
            assert sum(float(p) * math.log(p / q) for p, q in atoms) <= d * math.log(5) * 2 / 3 * (1 + 1e-12)
    for atoms, d in pairs(FDP().satisfied_by().mechanism):
        for ratio in (F(1, 4), F(1), F(4)):  # the slopes of the curve: 1 - a ratio - f(a) at its largest is 0, 1/3, 0
            most = {F(1, 4): F(3, 4), F(1): F(1, 3), F(4): F(0)}[ratio]
            assert d > 1 or sum(max(q - ratio * p, F(0)) for p, q in atoms) <= most


LINEAR = "linear-approximate-dp", "linear-renyi-dp", "linear-f-divergence-privacy", "linear-hockey-stick-dp"
NEAR = tuple(name.removeprefix("linear-") for name in LINEAR)
DERIVED = {
    *(("pure-dp", other) for other in (*NEAR, *LINEAR, "zero-concentrated-dp", "gaussian-dp") if other != "linear-renyi-dp"),
    *zip(LINEAR, NEAR, strict=True),
    *(("f-dp", other) for other in ("zero-concentrated-dp", "gaussian-dp", "renyi-dp", *NEAR[2:], *LINEAR[2:])),
    ("zero-concentrated-dp", "f-divergence-privacy"),
    ("renyi-dp", "f-divergence-privacy"),
    ("renyi-dp", "hockey-stick-dp"),
    ("linear-renyi-dp", "f-divergence-privacy"),
    ("linear-renyi-dp", "hockey-stick-dp"),
    ("linear-renyi-dp", "linear-f-divergence-privacy"),
    ("linear-renyi-dp", "linear-hockey-stick-dp"),
    *(
        (source, goal)
        for source in ("approximate-dp", "linear-approximate-dp")
        for goal in ("hockey-stick-dp", "linear-hockey-stick-dp")
    ),
}
"""Pure privacy of ln(3) is no linear Renyi privacy of ln(7/3): D_2 of two persons is not known to be below 2 ln(7/3)."""


def test_who_implies_whom():
    """Exactly these arrows are derived; from a constant between divergences, or pair by pair with a conversion."""
    specs = {cls.name: cls().spec() for cls in FLAVOURS}
    assert set(specs) == {"pure-dp", *NEAR, *LINEAR, "zero-concentrated-dp", "gaussian-dp", "f-dp"}
    found = {(a, b) for a, b in itertools.product(specs, repeat=2) if derive(specs[a], specs[b]) is not None}
    assert found == DERIVED | {(name, name) for name in specs}


@pytest.mark.parametrize(
    ("premise", "conclusion"),
    [(PureDP, FDP), (GaussianDP, PureDP), (HockeyStickDP, FDP), (RenyiDP, PureDP), (ApproximateDP, GaussianDP)],
    ids=lambda cls: cls.name,
)
def test_some_do_not_imply(premise, conclusion):
    found = compare(premise().spec(), conclusion().spec()).forward
    assert found.answer.value == "does not imply"


@pytest.mark.parametrize("cls", FLAVOURS, ids=lambda cls: cls.name)
def test_the_file_holds_the_flavour(cls, request):
    document = flavour_document(cls())
    path = request.config.rootpath / "specs" / "flavours" / f"{cls.name}.dpspec.toml"
    assert to_toml(read(path, REGISTRY), REGISTRY) == to_toml(document, REGISTRY)


# --- reveal by chance ----------------------------------------------------------------------------


def test_revealing_is_a_mixture_that_shows_itself():
    inner = RandomisedResponse(keep_probability=F(3, 4))
    law = RevealByChance(mechanism=inner, chance=F(1, 5)).law((0, 1), SPACE)
    expected = {("data", (0, 1)): F(1, 5)}
    expected |= {("noisy", t): F(4, 5) * p for t, p in masses(inner, (0, 1)).items()}
    assert law == FiniteLaw.of(expected)
    assert RevealByChance(mechanism=inner, chance=F(1)).law((0, 1), SPACE) == FiniteLaw.point(("data", (0, 1)))


@pytest.mark.reference("K-D35")
@pytest.mark.parametrize("chance", [F(0), F(1, 100), F(1, 7)])
def test_the_leak_is_the_singular_mass(chance):
    mechanism = RevealByChance(mechanism=RandomisedResponse(keep_probability=F(3, 4)), chance=chance)
    pair = mechanism.law((0, 0), SPACE).against(mechanism.law((0, 1), SPACE))
    assert pair.singular_mass().lower == chance
    assert pair.hockey_stick(ln(3)).lower == chance


def test_the_leak_of_continuous_noise_is_never_taken_for_less():
    """An image of continuous noise is only known between bounds: enough to verify, not to refute."""
    total = LinearMap(rows=((1, 1),), label="total")
    noise = Laplace(queries=(total,), neighbours="differ-in-one-position", epsilon=1, sensitivity=1)
    spec = ApproximateDP().spec()
    leaks = {chance: verify(RevealByChance(mechanism=noise, chance=chance), spec).outcome for chance in (F(1, 200), F(1, 50))}
    assert leaks == {F(1, 200): Outcome.VERIFIED, F(1, 50): Outcome.UNDECIDED}


def test_faults():
    inner = RandomisedResponse(keep_probability=F(3, 4))
    with pytest.raises(ParameterError, match=r"\[0, 1\]"):
        RevealByChance(mechanism=inner, chance=2)
    with pytest.raises(IncompatibleBlocksError):
        RevealByChance(mechanism=inner, chance=F(1, 2)).check(IntegerCounts(length=1, low=0, high=1))
