"""Inversion with a guide and wide noise in blocks, against probabilities that are computed here with fractions and decimals.

Every chi-square test draws n = 200,000 and rejects at level 1e-9.
"""

from __future__ import annotations

import bisect
import hashlib
import math
from collections import Counter
from decimal import Decimal, getcontext
from fractions import Fraction as F

import numpy as np
import pytest
from dpspec_noise import DiscreteGaussian, Geometric, Staircase, inversion, wide_noise
from dpspec_noise.inversion import Magnitude, drawn_from, inverted
from dpspec_noise.samplers import discrete_gaussian, discrete_laplace, two_sided_geometric
from dpspec_noise.wide_noise import wide_discrete_gaussian, wide_geometric, wide_two_sided_geometric
from scipy import stats

from dpspec.base.errors import ReleaseError
from dpspec.base.exact import ln, number
from dpspec.base.randomness import KeyedRandomness, SeededRandomness
from dpspec.blocks.invariant import Marginal
from dpspec.laws.integers import DiscreteGaussianLaw, TwoSidedGeometricLaw
from tests.randomness.scripted import Words

TOTAL = (Marginal(attributes=()),)
ROOT = number("sqrt(2)") * F(1, 10**7)
TOP = 1 << 64
N, LEVEL = 200_000, 1e-9


class Counted(KeyedRandomness):
    """A source like that of a release, with a key that the test knows, which counts its words and how often it is called."""

    def __init__(self):
        super().__init__(bytes(range(32)), fit_for_publication=True)
        self.drawn = self.calls = 0

    def words(self, count):
        self.drawn, self.calls = self.drawn + count, self.calls + 1
        return super().words(count)


# --- the table and its guide ----------------------------------------------------------------------


def two_sided_up_to(ratio, k):
    return 1 - ratio ** (k + 1) / (1 + ratio) if k >= 0 else ratio**-k / (1 + ratio)


def one_sided_up_to(ratio, k):
    return 1 - ratio ** (k + 1) if k >= 0 else F(0)


@pytest.mark.parametrize("ratio", [F(1, 3), F(9, 10)])
@pytest.mark.parametrize(("of", "up_to"), [(inversion.WholeLaw, two_sided_up_to), (Magnitude, one_sided_up_to)])
def test_the_guide_and_the_table_give_the_outcome_of_the_word(ratio, of, up_to):
    """At both ends of every interval of the guide, and next to every value of F, where one word decides."""
    reach = int(46 / -math.log(ratio))
    outcomes = range(-reach, reach + 1)
    values = [up_to(ratio, k) * TOP for k in outcomes]
    floors = [math.floor(value) for value in values]
    near = [floor + by for floor in floors for by in (-2, -1, 1, 2)]
    edges = [(prefix << 48) + end for prefix in range(0, 1 << 16, 5) for end in (0, 1, 2**48 - 1)]
    lowest, highest = floors[-1] - TOP + 5, floors[0] + 5
    open_ = set(floors) | {floor - 1 for floor, value in zip(floors, values, strict=True) if floor == value}
    words = [w for w in (*near, *edges) if max(highest, -lowest, 2**20) < w < TOP - 2**20 and w not in open_]
    found = drawn_from(of(TwoSidedGeometricLaw.with_ratio(0, ratio)), len(words), Words(*words, *[0] * 1000))
    expected = [outcomes[bisect.bisect_right(values, word)] for word in words]
    assert found.tolist() == expected


def test_a_magnitude_can_be_zero_without_more_bits():
    law = Magnitude(TwoSidedGeometricLaw.with_ratio(0, "1/2"))
    assert drawn_from(law, 3, Words(1, 2**63 - 2, 2**63 + 1)).tolist() == [0, 0, 1]
    assert drawn_from(law, 1, Words(0, 5)).tolist() == [0]
    assert drawn_from(law, 1, Words(2**63, 5)).tolist() == [1]  # F(0) is exactly this word
    assert drawn_from(law, 1, Words(2**63 - 1, 5)).tolist() == [0]


def test_few_words_are_searched_in_a_large_table(monkeypatch):
    """The work beyond the guide: at sigma = 1,000 it is less than an eighth of the draws."""
    searched = []
    real = np.searchsorted
    law = DiscreteGaussianLaw(0, 10**6)
    inverted(law, 1, SeededRandomness(1))
    monkeypatch.setattr(inversion.np, "searchsorted", lambda floors, words: searched.append(len(words)) or real(floors, words))
    inverted(law, 100_000, SeededRandomness(1))
    assert sum(searched) < 100_000 / 8


# --- blocks, coin by coin -------------------------------------------------------------------------

getcontext().prec = 80


def geometric_case(rate):
    """Slope and curvature as decimals, the function that draws, and the exact slope."""
    exact = number(rate) if not isinstance(rate, F) else ln(1 / rate)
    slope = (
        -(Decimal(rate.numerator) / Decimal(rate.denominator)).ln()
        if isinstance(rate, F)
        else Decimal(F(rate).numerator) / F(rate).denominator
    )
    return slope, Decimal(0), lambda source, count: wide_two_sided_geometric(source, count, decay=exact)


def gaussian_case(variance):
    curvature = Decimal(variance.denominator) / (2 * Decimal(variance.numerator))
    return Decimal(0), curvature, lambda source, count: wide_discrete_gaussian(source, count, variance=variance)


CASES = [
    geometric_case("1/7"),
    geometric_case(F(9, 10)),
    geometric_case(F(3, 4)),
    gaussian_case(F(10)),
    gaussian_case(F(271, 17)),
]


@pytest.fixture
def small_blocks(monkeypatch):
    """Tables of few blocks, so that blocks are wide next to the law and all exponents occur."""
    monkeypatch.setattr(wide_noise, "TABLE_REACH", 8)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("case", range(len(CASES)))
def test_each_offset_of_each_block_is_kept_with_its_probability(case):
    """Every pair of block and offset: the coin falls at floor(2^64 f(wj + u)/f(wj)), and the words there take more bits."""
    slope, curvature, draw = CASES[case]
    width = drawn_width(case)
    assert width >= 4

    def weight(k):
        return (-(slope * k + curvature * k * k)).exp()

    starts = [weight(width * j) for j in range(400)]
    total, checked = sum(starts), 0
    for j in range(3):
        middle = int((sum(starts[:j]) + starts[j] / 2) / total * TOP)
        for u in range(1, width):
            keep = weight(width * j + u) / starts[j] * TOP
            floor, rest = int(keep), int((keep - int(keep)) * TOP)
            kept, redrawn = [width * j + u], [0]
            offset = u * (TOP // width)
            after = (5, 0, 0)  # block 0, offset 0, plus sign, kept
            cases = [((floor - 2,), kept), ((0,), kept), ((floor + 2,), redrawn), ((TOP - 1,), redrawn)]
            if 1 < rest < TOP - 2:  # else the probability is a binary fraction
                cases += [((floor, rest - 2), kept), ((floor, rest + 2), redrawn)]
            for words, expected in cases:
                source = Words(middle, offset, *words, *after)
                assert draw(source, 1).tolist() == expected
                signed = Words(middle, offset + 1, *words, *after)
                assert draw(signed, 1).tolist() == ([-kept[0]] if expected is kept else redrawn)
                checked += 1
    assert checked >= 3 * 3 * 6


def drawn_width(case):
    """The width of the blocks, from what is drawn: the first offset bits are counted."""
    _, _, draw = CASES[case]
    return 1 + int(draw(Words(1, TOP - 2, 0), 1)[0])


@pytest.mark.parametrize("digits", [5, 9, 15])
def test_the_coin_of_a_ratio_close_to_1_is_as_exact(digits):
    """Of 64 bits of ln(1/r) only 12 would be significant at r = 1 - 10^-15."""
    ratio = 1 - F(1, 10**digits)
    decay = -(Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()

    def draw(*words):
        return int(wide_two_sided_geometric(Words(5, *words), 1, decay=ln(1 / ratio))[0])

    width = 1 + draw(TOP - 2, 0)
    assert width > max(300, 10**digits / 200)
    for u in (width - 1, width // 2, 300):
        threshold = (-decay * u).exp() * TOP
        step = int((TOP - threshold) / 10**15) + 2
        offset = u * (TOP // width)
        assert draw(offset, int(threshold) - step) == u
        assert draw(offset, int(threshold) + step, 5, 0, 0) == 0


@pytest.mark.usefixtures("small_blocks")
def test_minus_zero_is_drawn_again():
    draw = CASES[0][2]
    assert draw(Words(5, 1, 0, 5, 0, 0), 1).tolist() == [0]
    assert draw(Words(5, 2**63 + 1, 0), 1)[0] < 0


@pytest.mark.usefixtures("small_blocks")
def test_a_coin_whose_probability_is_a_binary_fraction_is_decided():
    """Ratio 3/4 squared is 9/16: U = 9/16 exactly is not below it, however many bits are read."""
    draw = CASES[2][2]
    word = 9 * TOP // 16
    two = 2 * (TOP // drawn_width(2))
    assert draw(Words(5, two, word, 0, 1, 5, 0, 0), 1).tolist() == [0]
    assert draw(Words(5, two, word - 1, TOP - 2), 1).tolist() == [2]


# --- laws -----------------------------------------------------------------------------------------


def geometric_below(decay, k):
    """P(X < k)."""
    return 1 - math.exp(-decay * k) / (1 + math.exp(-decay)) if k >= 1 else math.exp(-decay * (1 - k)) / (1 + math.exp(-decay))


def statistic(draws, cuts, below):
    expected = np.diff([0.0, *(below(cut) for cut in cuts), 1.0]) * len(draws)
    observed = np.bincount(np.searchsorted(cuts, draws, side="right"), minlength=len(expected))
    return ((observed - expected) ** 2 / expected).sum()


@pytest.mark.statistical
@pytest.mark.parametrize("decay", ["1/30", "ln(100000/99999)", "1/1000000", ROOT])
def test_wide_two_sided_geometric(decay):
    """Wrong scales: 3 % smaller and 3 % larger."""
    value = float(number(decay))
    draws = wide_two_sided_geometric(Counted(), N, decay=number(decay))
    cuts = sorted({round(q / value) for q in np.linspace(-4, 4, 41)})
    threshold = stats.chi2.isf(LEVEL, len(cuts))
    assert statistic(draws, cuts, lambda k: geometric_below(value, k)) < threshold
    for off in (0.97, 1.03):
        assert statistic(draws, cuts, lambda k, off=off: geometric_below(value * off, k)) > threshold


@pytest.mark.statistical
@pytest.mark.parametrize("variance", [F(10**8), F(10**12), F(10**30)])
def test_wide_discrete_gaussian(variance):
    """Wrong scales: 2.5 % smaller and larger. At this width P(X < k) is that of the normal law at k - 1/2, up to 1e-9."""
    sigma = math.sqrt(variance)
    draws = wide_discrete_gaussian(Counted(), N, variance=variance)
    cuts = sorted({round(q * sigma) for q in np.linspace(-3, 3, 41)})
    threshold = stats.chi2.isf(LEVEL, len(cuts))
    assert statistic(draws, cuts, lambda k: stats.norm.cdf((k - 0.5) / sigma)) < threshold
    for off in (0.975, 1.025):
        assert statistic(draws, cuts, lambda k, off=off: stats.norm.cdf((k - 0.5) / sigma / off)) > threshold


@pytest.mark.statistical
def test_the_low_bits_of_wide_noise_are_uniform():
    """Blocks are not seen in the draws: of the remainders modulo 12 none occurs more often, up to 1e-9 of the chi-square law."""
    for draws in (
        wide_geometric(Counted(), N, decay=number("1/100000")), wide_discrete_gaussian(Counted(), N, variance=F(10**10)),
    ):  # fmt: skip
        counts = np.bincount(draws % 12, minlength=12)
        assert ((counts - N / 12) ** 2 / (N / 12)).sum() < stats.chi2.isf(LEVEL, 11)


@pytest.mark.statistical
@pytest.mark.usefixtures("small_blocks")
def test_single_outcomes_of_wide_blocks():
    """Geometric numbers of ratio 3/4 in few wide blocks: the probability of each outcome up to 15."""
    count = N // 20
    draws = Counter(np.minimum(wide_geometric(Counted(), count, decay=ln(F(4, 3))), 16).tolist())
    expected = [count * 0.25 * 0.75**k for k in range(16)] + [count * 0.75**16]
    assert sum((draws[k] - e) ** 2 / e for k, e in enumerate(expected)) < stats.chi2.isf(LEVEL, 16)


# --- cost -----------------------------------------------------------------------------------------


SAMPLERS = {
    "geometric": lambda scale: lambda s, n: two_sided_geometric(s, n, ratio=1 - F(1, scale)),
    "Laplace": lambda scale: lambda s, n: discrete_laplace(s, n, scale=F(scale)),
    "Gaussian": lambda scale: lambda s, n: discrete_gaussian(s, n, variance=F(scale) ** 2),
    "staircase": lambda scale: lambda s, n: Staircase(queries=TOTAL, width=3, inner=1, epsilon=F(1, scale)).draw(n, s),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_work_does_not_depend_on_the_width(name):
    """Words drawn and calls of the source, from a scale of 1,000 to one of 10^12."""
    count, work = 50_000, []
    for scale in (10**3, 10**5, 10**8, 10**12):
        source = Counted()
        assert len(SAMPLERS[name](scale)(source, count)) == count
        work.append((source.drawn, source.calls))
    assert max(words for words, _ in work) < 1.1 * min(words for words, _ in work)
    assert max(words for words, _ in work) < (20 if name == "staircase" else 4) * count
    assert max(calls for _, calls in work) < 200


def test_few_draws_of_wide_geometric_noise_take_no_round_for_each_step():
    source = Counted()
    two_sided_geometric(source, 5, ratio=F(99_999_999, 100_000_000))
    assert source.calls < 50


def test_noise_that_leaves_64_bits_is_refused():
    with pytest.raises(ReleaseError, match="choose a smaller scale"):
        wide_two_sided_geometric(SeededRandomness(1), 1, decay=number(F(1, 2**60)))
    for sensitivity in (2**61, 10**400):
        for epsilon in ("sqrt(2)", "ln(3)"):
            with pytest.raises(ReleaseError, match="choose a smaller scale"):
                Geometric(queries=TOTAL, epsilon=epsilon, sensitivity=sensitivity).draw(1, SeededRandomness(1))
    for source in (SeededRandomness(1), Counted()):
        with pytest.raises(ReleaseError, match="choose a smaller scale"):
            two_sided_geometric(source, 1, ratio=1 - F(1, 10**300))
        with pytest.raises(ReleaseError, match="choose a smaller scale"):
            discrete_laplace(source, 50_000, scale=F(10**400))
        with pytest.raises(ReleaseError, match="choose a smaller scale"):
            discrete_gaussian(source, 50_000, variance=F(10**700))


@pytest.mark.parametrize("count", [0, 1])
def test_no_draw_and_one_draw(count):
    for scale in (1, 10**9):
        assert len(wide_geometric(Counted(), count, decay=number(F(1, scale)))) == count
        assert len(wide_two_sided_geometric(Counted(), count, decay=number(F(1, scale)))) == count
        assert len(wide_discrete_gaussian(Counted(), count, variance=F(scale))) == count


# --- seeds ----------------------------------------------------------------------------------------


def geometric(**parameters):
    return Geometric(queries=TOTAL, **parameters)


def gaussian(variance):
    return DiscreteGaussian(queries=TOTAL, sensitivities=(1,), variance=variance)


@pytest.mark.parametrize(("mechanism", "count", "digest"), [
    (geometric(epsilon="1"), 7, "e4aab285c1d28cec"),
    (geometric(epsilon="1"), 70_000, "07b8d069168c37b4"),
    (geometric(epsilon="1/10"), 999, "92a6cc1702407054"),
    (geometric(epsilon="1/10"), 70_000, "5cff464237eb23e2"),
    (geometric(epsilon="1/1000"), 7, "8903772e03681731"),
    (geometric(epsilon="1/1000"), 70_000, "79e08d1518801b6d"),
    (geometric(epsilon="1/100000"), 1_000, "6edafd7502482e15"),
    (geometric(epsilon="ln(3)"), 70_000, "5bec5f24d4612695"),
    (geometric(ratio="1/3"), 7, "a6c83e7738c672f7"),
    (geometric(ratio="1/3"), 70_000, "5bec5f24d4612695"),
    (geometric(ratio="99/100"), 999, "af9750625bc3fdd1"),
    (geometric(ratio="999/1000"), 7, "35dead19392fe73b"),
    (geometric(ratio="999/1000"), 5_000, "edfa3113fa23d5b6"),
    (gaussian("271/17"), 7, "4b8e63e7cf067c90"),
    (gaussian("271/17"), 70_000, "cac1a4da8b1c7309"),
    (gaussian("1000000"), 999, "1b05e32d9e6a47d6"),
    (gaussian("1000000"), 70_000, "3b77210d05602457"),
    (gaussian("100000000"), 7, "e66a6e80d6ebfe6b"),
    (gaussian("100000000"), 70_000, "edf6c90648d00bdc"),
    (gaussian("1000000000000"), 70_000, "e6831008401dc29b"),
])  # fmt: skip
def test_a_seed_gives_the_noise_that_it_always_gave(mechanism, count, digest):
    """Digests of draws, and of the word after them, that were made before there were guides and blocks."""
    source = SeededRandomness(5)
    drawn = mechanism.draw(count, source).astype("<i8").tobytes() + source.words(1).tobytes()
    assert hashlib.sha256(drawn).hexdigest()[:16] == digest
