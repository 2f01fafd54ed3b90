"""Curves of specifications and mechanisms: what is drawn holds between the points too, held against formulas of other books."""

from __future__ import annotations

import functools
import itertools
import math
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import attrs
import pytest
from dpspec_report import command
from dpspec_report.charts import chart, value_mark
from dpspec_report.curves import ALLOWED, PANELS, _lines_of, noises, off_by, sampled
from dpspec_report.drawing import SIZES
from hypothesis import given, strategies as st

import dpspec as dp
from dpspec import api
from dpspec.base.errors import PictureError
from dpspec.base.exact import Bracket
from dpspec.extension import installed
from dpspec.laws.continuous import GaussianLaw, LaplaceLaw
from dpspec.laws.integers import DiscreteGaussianLaw
from dpspec.report.figures import CurveLine, CurvePanel
from dpspec.report.subject import curve_subject

SPECS = Path(__file__).parents[3] / "specs"
SVG = "{http://www.w3.org/2000/svg}"
RESPONSE, LAPLACE = SPECS / "randomised-response.dpspec.toml", SPECS / "mechanisms/laplace-adults-add-remove.dpspec.toml"
CONCENTRATED = SPECS / "mechanisms/discrete-gaussian-adults-add-remove.dpspec.toml"
NORMAL = NormalDist()


@functools.cache
def lines(path, panel):
    found, _ = _lines_of(api.read(path), panel, 0, installed().registry, None, Fraction(1, 20))
    return {"allowed" if line.role == ALLOWED else "own": line for line in found}


def range_at(corners, x):
    """The lowest and the highest value of a drawn line at a place."""
    levels = []
    for (left, before), (right, after) in itertools.pairwise(corners):
        if left <= x <= right:
            share = 0.0 if left == right else (x - left) / (right - left)
            levels += [before, after] if left == right else [before + share * (after - before)]
    return min(levels), max(levels)


def low(line, x):
    return range_at(line.points, x)[0]


def high(line, x):
    return range_at(line.top, x)[1]


def powers(line):
    """The same on a logarithmic axis, on which its lines are straight."""
    lift = lambda points: tuple((x, math.log10(y)) for x, y in points)  # noqa: E731
    return attrs.evolve(line, points=lift(line.points), top=lift(line.top))


PLACES = [(k + 0.37) / 200 for k in range(200)]


@pytest.mark.parametrize(("path", "epsilon"), [(RESPONSE, math.log(3)), pytest.param(LAPLACE, 1.0, marks=pytest.mark.slow)])
def test_the_trade_off_of_pure_privacy_lies_in_its_band(path, epsilon):
    """f(a) = max(0, 1 - e^epsilon a, e^-epsilon (1 - a)) (Wasserman and Zhou 2010)."""
    band = lines(path, "trade-off")["allowed"]
    for a in PLACES:
        truth = max(0, 1 - math.exp(epsilon) * a, math.exp(-epsilon) * (1 - a))
        assert low(band, a) <= truth + 1e-12
        assert low(band, a) >= truth - 0.001, "nor is it far below"
        assert high(band, a) == pytest.approx(1 - a)


@pytest.mark.slow
def test_the_trade_off_of_laplace_noise_lies_in_what_is_drawn():
    """With F the law of one answer: a -> F(F^-1(1 - a) - 1), of the shift by one scale (Dong, Roth and Su 2022)."""

    def cdf(t):
        return 0.5 * math.exp(t) if t < 0 else 1 - 0.5 * math.exp(-t)

    def quantile(p):
        return math.log(2 * p) if p < 0.5 else -math.log(2 * (1 - p))

    own = lines(LAPLACE, "trade-off")["own"]
    for a in PLACES:
        truth = cdf(quantile(1 - a) - 1)
        assert low(own, a) - 1e-9 <= truth <= high(own, a) + 1e-9
        assert high(own, a) - low(own, a) < 0.003, "a band thinner than its line"


@pytest.mark.long
def test_the_band_of_concentrated_privacy_holds_gaussian_noise():
    """rho-zCDP allows a shift of mu = sqrt(2 rho) standard deviations, and more (Bun and Steinke 2016)."""
    document = api.read(CONCENTRATED)
    mu = math.sqrt(2 * float(document.spec.budget.uniform()))
    band = lines(CONCENTRATED, "trade-off")["allowed"]
    for a in PLACES:
        assert low(band, a) <= NORMAL.cdf(NORMAL.inv_cdf(1 - a) - mu) + 1e-9


def test_the_profile_of_pure_privacy_is_above_that_of_randomised_response():
    """delta(e) = (e^epsilon - e^e) / (1 + e^epsilon), attained by one coin (Kairouz, Oh and Viswanath 2015)."""
    found = lines(RESPONSE, "profile")
    band, own = found["allowed"], found["own"]
    last = band.top[-1][0]
    assert last == pytest.approx(math.log(3), abs=1e-9)
    for share in PLACES:
        x = share * last
        truth = (3 - math.exp(x)) / 4
        assert high(powers(band), x) >= math.log10(truth) - 1e-9
        if x <= own.points[-1][0]:
            assert low(powers(own), x) - 1e-9 <= math.log10(truth) <= high(powers(own), x) + 1e-9
            assert high(powers(own), x) - low(powers(own), x) < 0.05


@pytest.mark.slow
def test_the_renyi_band_of_concentrated_privacy_is_above_rho_alpha():
    document = api.read(CONCENTRATED)
    rho = float(document.spec.budget.uniform())
    found = lines(CONCENTRATED, "renyi")
    first, last = found["allowed"].top[0][0], found["allowed"].top[-1][0]
    for share in PLACES:
        alpha = first + share * (last - first)
        assert high(found["allowed"], alpha) >= rho * alpha - 1e-12
        assert low(found["own"], alpha) <= rho * alpha + 1e-9


def test_a_posterior_is_that_of_the_power():
    """p w / (p w + (1 - p) a), w = 3 a for the best test of a randomised response at the level a = 1/20."""
    found = lines(RESPONSE, "posterior")
    for prior in PLACES:
        truth = prior * 0.15 / (prior * 0.15 + (1 - prior) * 0.05)
        assert low(found["own"], prior) - 1e-9 <= truth <= high(found["own"], prior) + 1e-9
        assert high(found["allowed"], prior) >= truth - 1e-9
        assert low(found["allowed"], prior) == pytest.approx(prior)


def test_bars_are_rounded_to_their_side():
    found = lines(RESPONSE, "power")
    assert [top for _, top in found["allowed"].points] == pytest.approx([0.03, 0.15, 0.3, 0.75], abs=2e-5)
    assert all(top >= exact for (_, top), exact in zip(found["allowed"].points, (0.03, 0.15, 0.3, 0.75), strict=True))
    assert found["own"].side == "below", "of 2^20 datasets only some were looked at"
    assert value_mark(0.1500000001, "above") == "0.15"
    assert value_mark(0.15001, "above") == "0.151"


@given(st.fractions(Fraction(1, 100), Fraction(99, 100)), st.sampled_from([Fraction(1, 3), Fraction(2), Fraction(50)]))
def test_the_error_holds_the_share_and_no_smaller_one_does(share, scale):
    """P(|W| <= k) = 1 - e^(-k / b) for Laplace noise."""
    found = off_by(LaplaceLaw(0, scale), share)
    assert 1 - math.exp(-float(found / scale)) >= float(share) - 1e-12
    assert 1 - math.exp(-float(found / scale) / 1.02) < float(share)


@pytest.mark.parametrize("share", ["1/2", "19/20", "99/100"])
def test_the_error_of_a_discrete_gaussian_is_the_least_whole_number(share):
    law = DiscreteGaussianLaw(0, 9)
    weights = {k: math.exp(-k * k / 18) for k in range(-60, 61)}
    held = [sum(w for k, w in weights.items() if abs(k) <= most) / sum(weights.values()) for most in range(20)]
    assert off_by(law, Fraction(share)) == next(most for most, mass in enumerate(held) if mass >= float(Fraction(share)))


def test_the_error_of_gaussian_noise_is_its_quantile():
    found = float(off_by(GaussianLaw(0, 100), Fraction(19, 20)))
    assert NORMAL.inv_cdf(0.975) * 10 <= found <= 1.01 * NORMAL.inv_cdf(0.975) * 10


@given(st.integers(7, 40))
def test_samples_are_sorted_dense_where_it_is_steep_and_bounded(most):
    steep = sampled(lambda x: Bracket.exactly(1 if x > Fraction(1, 3) else 0), Fraction(0), Fraction(1), most)
    places = [x for x, _ in steep]
    assert places == sorted(set(places))
    assert len(places) <= most
    assert places[0] == 0
    assert places[-1] == 1
    if most > 20:
        assert min(abs(x - Fraction(1, 3)) for x in places) < Fraction(1, 200)


# --- pictures -----------------------------------------------------------------------------------------------------------


def test_the_command_offers_every_panel():
    """It has a list of its own, so that its help does not load what draws."""
    (panel,) = (option for option in command.curve.params if option.name == "panel")
    assert tuple(panel.type.choices) == PANELS


@pytest.mark.parametrize(
    "panel", [pytest.param(panel, marks=[] if panel in ("power", "error") else [pytest.mark.long]) for panel in PANELS]
)
def test_every_panel_names_its_axes_and_each_specification_once(panel):
    tree = ET.fromstring(dp.curve(LAPLACE, CONCENTRATED, panel=panel, size="column").svg)
    told = [text.text for text in tree.iter(f"{SVG}text")]
    for name in ("laplace-adults-add-remove", "discrete-gaussian-adults-add-remove"):
        assert sum(text.startswith(name[:20]) for text in told) == 1
    assert sum("what is allowed" in text for text in told) == (panel != "error")
    assert tree.get("aria-label")
    assert len(list(tree.iter(f"{SVG}rect"))) >= 2


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_drawn_off_the_picture(size, theme):
    title = "A title of many words that needs more than a line in a column " * 2
    line = CurveLine(name="a name that is longer than a column is wide, and by far", points=((0.0, 0.0), (1.0, 1.0)))
    panels = [CurvePanel(title="what is measured, and in which unit that is", axis="level", lines=(line, line)),
              CurvePanel(title="bars", axis="", lines=(line,), labels=("one", "two"))]  # fmt: skip
    tree = ET.fromstring(chart(title, panels[: 1 if SIZES[size].height else 2], size=size, theme=theme, note="a note " * 20).svg)
    width, height = (float(part) for part in tree.get("viewBox").split()[2:])
    for group in (tree, *tree.iter(f"{SVG}g")):
        x, y = map(float, group.get("transform", "translate(0,0)")[10:-1].split(","))
        for text in group.findall(f"{SVG}text"):
            wide = 0.62 * float(text.get("font-size")) * len(text.text) * (1.14 if text.get("font-weight") else 1)
            start = x + float(text.get("x")) - {"end": wide, "middle": wide / 2}.get(text.get("text-anchor"), 0)
            assert -1 <= start <= width + 12 - wide, text.text
            assert 0 <= y + float(text.get("y")) <= height
    if SIZES[size].height:
        assert (float(tree.get("width")), float(tree.get("height"))) == pytest.approx(
            (SIZES[size].width, SIZES[size].height), abs=2
        )


def test_an_empty_panel_is_left_out_and_said():
    line = CurveLine(name="a", points=((0.1, 0.2), (0.5, 0.6)))
    panels = [CurvePanel(title="power", axis="level", lines=(line,)), CurvePanel(title="odds", axis="level", lines=())]
    told = [text.text for text in ET.fromstring(chart("Risk", panels).svg).iter(f"{SVG}text")]
    assert "No finite number: odds." in told
    assert "odds" not in told
    with pytest.raises(PictureError, match="no finite number"):
        chart("Risk", panels[1:])


def written(tmp_path, **tables):
    blocks = {"space": '[space]\ntype = "bit-vectors"\nlength = 3\n', "budget": "[budget]\nepsilon = 1\n",
              "output": '[output_divergence]\ntype = "mult"\n'} | tables  # fmt: skip
    head = 'schema = 1\nid = "one"\ntitle = "t"\n'
    text = head + "".join(blocks.values()) + '[input_divergence]\ntype = "hamming-ordered"\nunit = "person"\n'
    path = tmp_path / "one.dpspec.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_infinite_budget_allows_everything(tmp_path):
    band = lines(written(tmp_path, budget='[budget]\nepsilon = "inf"\n'), "trade-off")["allowed"]
    assert max(y for x, y in band.points if x > 0) == 0
    for panel in ("profile", "renyi"):
        with pytest.raises(PictureError, match="nothing to show"):
            dp.curve(tmp_path / "one.dpspec.toml", panel=panel)


def test_a_budget_of_0_allows_nothing(tmp_path):
    band = lines(written(tmp_path, budget="[budget]\nepsilon = 0\n"), "trade-off")["allowed"]
    assert all(y == pytest.approx(1 - x, abs=1e-4) and y <= 1 - x for x, y in band.points)


def test_a_delta_of_0_stays_on_the_picture(tmp_path):
    """Pure privacy as approximate privacy: its profile ends upright at epsilon, on the axis of powers of ten."""
    path = written(tmp_path, output='[output_divergence]\ntype = "mult-delta"\ndelta = 0\n')
    top = lines(path, "profile")["allowed"].top
    assert top[-1] == (pytest.approx(1), pytest.approx(1e-12))
    assert "<svg" in dp.curve(path, panel="profile").svg


def test_a_delta_that_never_falls_ends_where_floats_do():
    """One-sided privacy: an outcome of one law alone has a probability of 2/3 at every epsilon."""
    own = lines(SPECS / "flavours/one-sided-dp.dpspec.toml", "profile")["own"]
    assert own.points[-1][1] == pytest.approx(2 / 3)
    assert own.top[-1][0] == 512


@pytest.mark.slow
def test_an_epsilon_whose_exponential_is_no_float_has_steps(tmp_path):
    path = written(tmp_path, budget="[budget]\nrho = 600\n", output='[output_divergence]\ntype = "d-nor"\n')
    top = lines(path, "profile")["allowed"].top
    assert top[-1][0] > 709
    assert all(before[0] == after[0] or before[1] == after[1] for before, after in itertools.pairwise(top))
    assert all(high(lines(path, "profile")["allowed"], x) > 0.99 for x in (100, 400, 560)), "half of the losses are above rho"


def test_what_is_allowed_has_steps_where_its_convexity_is_not_declared():
    """The bounds of a divergence that keeps no mixtures do not use the chords."""
    document = api.read(RESPONSE)
    kind = type(document.spec.output_divergence)
    silent = attrs.make_class("Silent", [], bases=(kind,), class_body={"keeps_mixtures": False})()
    spec = attrs.evolve(document.spec, output_divergence=silent)
    found, _ = _lines_of(attrs.evolve(document, spec=spec), "trade-off", 0, installed().registry, None, Fraction(1, 20))
    (band,) = (line for line in found if line.role == ALLOWED)
    assert all(before[0] == after[0] or before[1] == after[1] for before, after in itertools.pairwise(band.points))
    assert all(low(band, a) <= max(0, 1 - 3 * a, (1 - a) / 3) + 1e-12 for a in PLACES)


def test_a_vacuous_promise_is_told_so():
    """No universe of this multiverse holds two datasets at distance 1; at the smallest step, 2, one does."""
    document = api.read(SPECS / "swapping-2020-county-tract.dpspec.toml")
    with pytest.raises(
        PictureError, match="nothing to show: swapping-2020-county-tract: one household record cannot change alone"
    ):
        dp.curve(document, distance=1)
    told = " ".join(text.text for text in ET.fromstring(dp.curve(document, panel="posterior").svg).iter(f"{SVG}text"))
    assert "at distance 2" in told
    assert "agree in all that is published exactly" in told


def test_no_specification_at_all():
    with pytest.raises(PictureError, match="give a specification"):
        dp.curve()


@pytest.mark.parametrize("level", ["0", "1", "-1", "2"])
def test_a_level_outside_0_and_1_is_refused(level):
    with pytest.raises(PictureError, match="must lie in"):
        dp.curve(RESPONSE, panel="posterior", level=level)


def test_a_class_that_changes_the_law_of_another_gets_no_curve_of_its_structure():
    document = api.read(LAPLACE)
    kind = type(document.mechanism)
    changed = type("Changed", (kind,), {"law": kind.law})
    other = changed(**{field.name: getattr(document.mechanism, field.name) for field in attrs.fields(kind) if field.init})
    assert noises(document)
    assert not noises(attrs.evolve(document, mechanism=other))
    assert curve_subject(document).pairs
    assert not curve_subject(attrs.evolve(document, mechanism=other)).pairs


def test_curves_of_a_product_say_that_they_are_about_its_first_promise():
    found = dp.curve_points(SPECS / "deployments" / "wikimedia-editors-monthly.dpspec.toml", panel="error")
    assert any("about its first promise alone" in note for note in found.notes)
    alone = dp.curve_points(SPECS / "mechanisms" / "laplace-adults-add-remove.dpspec.toml", panel="error")
    assert not any("promise" in note for note in alone.notes)
