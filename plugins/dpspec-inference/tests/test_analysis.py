"""`dpspec infer` as a user meets it: the numbers of the examples, data, and one line for each kind of bad input."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from dpspec_inference.analysis import models
from dpspec_inference.bounded import MeanAndVariance
from dpspec_inference.counts import CountPrior, enclosed_posterior
from dpspec_inference.quadrature import constrained
from dpspec_inference.shares import estimated

import dpspec as dp
from dpspec.cli import main
from dpspec.plugin import errors, laws, ln

SPECS = Path(__file__).parents[3] / "specs" / "inference"
RELEASED = SPECS / "released"
EXAMPLES = {
    "response": ("response.toml", "proportion"),
    "mean-and-variance": ("lead.toml", "mean-and-variance"),
    "swapped-two": ("two.csv", "universe"),
    "swapped-table": ("dwellings.csv", "swapped-table"),
    "block-count": ("blocks.csv", "block-count"),
}


def spec(name):
    return SPECS / f"{name}.dpspec.toml"


def ask(*arguments, code=0):
    found = CliRunner().invoke(main, ["infer", *map(str, arguments)])
    assert found.exit_code == code, found.output
    return found.stdout if code in {0, 3} else found.stderr


def example(name, *more, code=0):
    release, model = EXAMPLES[name]
    return ask(spec(name), RELEASED / release, "--model", model, *more, code=code)


@pytest.mark.reference("B-O22")
def test_a_share_from_randomised_response():
    found = json.loads(example("response", "--format", "json"))
    assert [one["value"] for one in found["estimates"]] == ["1/4", "1/4"]
    assert [Fraction(one["variance"]) * 20 for one in found["estimates"]] == [Fraction("6.1875"), 6]
    assert "share of 1: estimate 0.25" in example("response").splitlines()[0]


@pytest.mark.reference("B-O41")
def test_the_exchange_of_two_records():
    found = json.loads(example("swapped-two", "--format", "json"))
    assert [fact["value"] for fact in found["facts"]] == ["2", "16/17", "1/17"]


@pytest.mark.reference("Z-N4.b")
def test_mean_and_variance_of_bounded_data():
    found = json.loads(example("mean-and-variance", "--format", "json"))
    means = {one["name"]: one["mean"] for one in found["posterior"]}
    assert means["mean, unconstrained"] == pytest.approx(34.30, abs=0.005)
    assert means["mean, constrained"] == pytest.approx(38.53, abs=0.005)
    assert found["facts"][1]["value"] == pytest.approx(0.611, abs=0.0005)


def test_the_data_have_the_published_schema():
    schema = dp.schema("output")
    for name in ("response", "swapped-two", "swapped-table", "block-count"):
        data = json.loads(example(name, "--format", "json"))
        jsonschema.Draft202012Validator({"$defs": schema["$defs"], "$ref": "#/$defs/infer"}).validate(data)
        assert data["scope"] == "for this mechanism and this release"


def test_command_and_function_give_one_answer():
    release, model = EXAMPLES["response"]
    found = dp.infer(spec("response"), RELEASED / release, model=model)
    assert str(found) + "\n" == example("response")
    assert set(models()) == {
        "block-count", "mean-and-variance", "proportion", "simple-regression", "swapped-table", "table-of-proportions",
        "universe",
    }  # fmt: skip


def test_a_model_is_data(tmp_path):
    model = tmp_path / "model.toml"
    model.write_text('type = "block-count"\ncell = "1001"\nprior = { least = 2, masses = ["3/4", "1/4"] }\n')
    found = json.loads(ask(spec("block-count"), RELEASED / "blocks.csv", "--model", model, "--format", "json"))
    (one,) = found["posterior"]
    low, high = 3 * math.exp(-1 / 10), 1  # masses times e^(-(3 - k)^2/(2 * 5)), k = 2 and 3
    assert one["mean"] == pytest.approx((2 * low + 3 * high) / (low + high), abs=1e-12)
    settings = ["--set", 'cell="1001"', "--set", 'prior={least=2, masses=["3/4", "1/4"]}']
    again = ask(spec("block-count"), RELEASED / "blocks.csv", "--model", "block-count", *settings, "--format", "json")
    assert json.loads(again)["posterior"] == found["posterior"]


# -- bad input -------------------------------------------------------------------------------------


def test_improper_posteriors_name_the_theorem(tmp_path):
    found = example("mean-and-variance", "--set", "prior={type='jeffreys'}", code=2)
    assert found.count("\n") == 1
    assert "Theorem 17" in found
    small = tmp_path / "three.dpspec.toml"
    text = spec("mean-and-variance").read_text().replace("least = 43\nmost = 43", "least = 3\nmost = 3")
    small.write_text(text)
    arguments = [small, RELEASED / "lead.toml", "--model", "mean-and-variance"]
    assert "Theorem 18" in ask(*arguments, code=2)
    assert "mean, constrained" in ask(*arguments, "--set", "analysis=constrained")


@pytest.mark.parametrize(("name", "release", "model", "says"), [
    ("response", "lead.toml", "proportion", "is of the specification mean-and-variance"),
    ("response", "none.toml", "proportion", "does not exist"),
    ("response", "response.toml", "mean-and-variance", "does not know the law of randomised-response"),
    ("response", "response.toml", "swapped-table", "does not know the law of randomised-response"),
    ("swapped-table", "dwellings.csv", "proportion", "does not know the law of derangement-swapping"),
    ("swapped-table", "dwellings.csv", "block-count", "does not know the law of derangement-swapping"),
    ("response", "response.toml", "proportions", "did you mean proportion"),
    ("swapped-table", "two.csv", "swapped-table", "has no column of the space"),
    ("block-count", "two.csv", "block-count", "has no column of the space"),
    ("swapped-two", "blocks.csv", "universe", "has no table with the columns kind, place"),
])  # fmt: skip
def test_bad_input_is_one_line(name, release, model, says):
    found = ask(spec(name), RELEASED / release, "--model", model, code=2)
    assert says in found
    assert found.count("\n") == 1


@pytest.mark.parametrize(("text", "says"), [
    ("0 = 11\n1 = 10\n", "21 reports"),
    ("0 = 0\n1 = 0\n", "no reports"),
    ("0 = -1\n1 = 21\n", "whole number from 0 on"),
    ('0 = "1/2"\n1 = "39/2"\n', "whole number from 0 on"),
    ("0 = 20\n", "has no number 1"),
    ("0 = 20\n1 = 0\n2 = 5\n", "counts a category that there is not"),
    ("0 = [20]\n1 = 0\n", "must be a number"),
    ("0 = nan\n1 = 1\n", "0"),
    ("0 = true\n1 = 1\n", "0"),
    ("0 = 1\n0 = 2\n", "TOML"),
])  # fmt: skip
def test_counts_outside_the_space(tmp_path, text, says):
    release = tmp_path / "released.toml"
    release.write_text(text)
    found = ask(spec("response"), release, "--model", "proportion", code=2)
    assert says in found
    assert found.count("\n") == 1


@pytest.mark.parametrize(("answers", "says"), [
    ("person by block,1003,3,published\n", "answers a query or a cell"),
    ("person by street,1001,3,published\n", "answers a query or a cell"),
    ("person by block,1001,2.5,published\n", "whole number in line 2"),
    ("person by block,1001,,published\n", "whole number in line 2"),
    ("person by block,1001,,suppressed\n", "is suppressed in line 2"),
    ("person by block,1001,2,published\nperson by block,1001,3,published\n", "answers a cell twice"),
    ("", "no noisy answers"),
])  # fmt: skip
def test_bad_answers(tmp_path, answers, says):
    release = tmp_path / "answers.csv"
    release.write_text("query,block,value,status\n" + answers)
    assert says in ask(spec("block-count"), release, "--model", "block-count", code=2)


def test_a_folder_of_another_specification_is_refused(tmp_path):
    out = tmp_path / "out"
    table = tmp_path / "answers.csv"
    table.write_text("bit\n" + "0\n1\n" * 10)
    dp.release(spec("response"), table, out)
    assert dp.infer(spec("response"), out, model="proportion")["facts"][0]["value"] == "20"
    other = tmp_path / "other.dpspec.toml"
    other.write_text(spec("response").read_text() + "# changed\n")
    with pytest.raises(errors.ReleaseError, match="another specification"):
        dp.infer(other, out, model="proportion")
    (out / "report.json").write_text("{}")
    with pytest.raises(errors.ReleaseError, match=r"no report\.json"):
        dp.infer(spec("response"), out, model="proportion")


def changed(name, tmp_path, *pairs):
    text = spec(name).read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / f"changed-{name}.dpspec.toml"
    path.write_text(text)
    return path


def test_what_the_release_does_not_determine(tmp_path):
    noise = changed("response", tmp_path, ('keep_probability = "3/5"', 'keep_probability = "1/2"'), ("ln(3/2)", "1"))
    assert "not determined" in ask(noise, RELEASED / "response.toml", "--model", "proportion", code=2)


def test_what_is_published_exactly_is_not_estimated(tmp_path):
    exact = 'invariants = [{ type = "marginal", attributes = ["block"] }]'
    path = changed("block-count", tmp_path, ("invariants = []", exact))
    assert "publishes exactly" in ask(path, RELEASED / "blocks.csv", "--model", "block-count", code=2)
    path = changed("block-count", tmp_path, ("invariants = []", exact.replace('"block"', "")))
    assert "are not used" in ask(path, RELEASED / "blocks.csv", "--model", "block-count")


def test_a_specification_without_a_mechanism(tmp_path):
    text = spec("response").read_text()
    path = tmp_path / "promise.dpspec.toml"
    path.write_text(text[: text.index("[mechanism]")])
    assert "its law is the likelihood" in ask(path, RELEASED / "response.toml", "--model", "proportion", code=2)


@pytest.mark.parametrize("settings", ["level=2", "level=0", "colour=red", "prior={a=0}", "category=2"])
def test_bad_settings(settings):
    assert example("response", "--set", settings, code=2).count("\n") == 1


# -- the models against independent computations ---------------------------------------------------


def test_a_posterior_share_is_a_ratio_of_polynomials():
    """Nine yes of 20 at p = 3/5, prior Beta(2, 1): E pi = int pi^2 l^9 (1 - l)^11 / int pi l^9 (1 - l)^11 with l = (2 + pi)/5."""
    x = np.polynomial.Polynomial([0, 1])
    likelihood = x * ((2 + x) / 5) ** 9 * ((3 - x) / 5) ** 11
    exact = (x * likelihood).integ()(1) / likelihood.integ()(1)
    found = json.loads(example("response", "--set", "prior={a=2}", "--format", "json"))
    assert found["posterior"][0]["mean"] == pytest.approx(exact, abs=1e-9)


def test_intervals_do_not_depend_on_the_grid():
    """The nodes of a constrained grid are few: read as steps, they moved an end of an interval by 3 % (found by calibration)."""
    model, released = list(MeanAndVariance.examples())[1]
    data, bounds, _ = model._data(released)
    coarse, fine = (
        model._posteriors(constrained(data, model.prior.inside(bounds), points=points), bounds, kind=True) for points in (48, 96)
    )
    for one, other in zip(coarse, fine, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=2e-3)
        for at in (2.5, 4, 5):
            assert one.below(at)[0] == pytest.approx(other.below(at)[0], abs=1e-3)


def test_shares_of_three_categories_by_solving_for_them():
    matrix = ((Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)), (Fraction(1, 3),) * 2 + (Fraction(1, 3),), (Fraction(0), Fraction(1, 5), Fraction(4, 5)))  # fmt: skip  # noqa: E501
    observed = np.array([10, 20, 30]) / 60
    shares = np.linalg.solve(np.array(matrix, dtype=float).T, observed)
    assert [float(value) for value, _, _ in estimated(matrix, (10, 20, 30))] == pytest.approx(shares)


@pytest.mark.parametrize("counts", [(20, 0), (0, 20), (19, 1), (11, 9)])
def test_the_error_over_sample_and_noise_is_not_below_that_over_the_noise(counts):
    """For randomised response the noise has the variance p (1 - p) / (n (2 p - 1)^2) whatever was reported."""
    p = Fraction(3, 5)
    for share, both, noise in estimated(((p, 1 - p), (1 - p, p)), counts):
        assert noise == Fraction(6, 25) / (20 * Fraction(1, 25))
        assert both == noise + (share * (1 - share) / 20 if 0 <= share <= 1 else 0)


@pytest.mark.parametrize("answer", [-300, -3, 0, 7, 2500])
@pytest.mark.parametrize("prior", [CountPrior(), CountPrior(most=9), CountPrior(least=3), CountPrior(mean=Fraction(5))])
def test_a_posterior_count_by_plain_sums(answer, prior):
    """In whole numbers: geometric noise of ratio 1/2, over all counts that are not negligible."""
    noise = laws.TwoSidedGeometricLaw(0, ln(2))
    far = 200 if prior.mean is not None else max(answer, 0) + 100
    last = far if prior.last is None else prior.last
    weights = {}
    for k in range(prior.least, last + 1):
        mass = Fraction(1)
        if prior.mean is not None:
            mass = prior.mean**k / math.factorial(k)
        weights[k] = mass * Fraction(1, 2) ** abs(answer - k)
    whole = sum(weights.values())
    expected = float(sum(k * weight for k, weight in weights.items()) / whole)
    counts, masses, error = enclosed_posterior(noise, answer, prior)
    assert error < 1e-9
    assert float((counts * masses).sum()) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("far", [pytest.param(0, marks=pytest.mark.slow), 1500])
def test_what_lies_beyond_the_window_is_summed_where_it_matters(far):
    """All but one of 1,501 counts are next to impossible, and the answer is at the other end."""
    masses = [Fraction(1, 10**600)] * 1501
    masses[far] = Fraction(1)
    noise = laws.TwoSidedGeometricLaw(0, ln(2))
    counts, found, _ = enclosed_posterior(noise, 1500 - far, CountPrior(masses=masses))
    assert found[list(counts).index(far)] == pytest.approx(1, abs=1e-12)


# -- the mechanisms --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "budget"), [("mean-and-variance", "1/2"), ("regression", "1/2")])
def test_the_constant_is_exact(tmp_path, name, budget):
    """Verified at its budget for any data, and refuted just below it by the pair that attains it."""
    assert dp.verify(dp.read(spec(name)).mechanism, dp.read(spec(name)).spec).outcome is dp.Outcome.VERIFIED
    below = dp.read(changed(name, tmp_path, (f'epsilon = "{budget}"', 'epsilon = "0.499"')))
    assert dp.verify(below.mechanism, below.spec).outcome is dp.Outcome.REFUTED


@pytest.mark.parametrize(("old", "new", "says"), [
    ("most = 43", "most = 44", "public number of records"),
    ("least = 43\nmost = 43", "least = 1\nmost = 1", "sample variance"),
    ("high = 100", "high = 99", "numbers between 0 and 99"),
    ("high = 100", "high = 0", "above low"),
    ('attribute = "lead"', 'attribute = "zinc"', "none of the space"),
])  # fmt: skip
def test_mechanisms_refuse_other_spaces(tmp_path, old, new, says):
    with pytest.raises(errors.DpspecError, match=says):
        dp.read(changed("mean-and-variance", tmp_path, (old, new)))


# -- counts that no dataset has, and numbers that are too large --------------------------------------


def counted(least, most, attributes):
    """A specification of geometric noise of ratio 1/4 on a space of some sizes."""
    return dp.build(
        id="p", title="P",
        space={"type": "records", "least": least, "most": most, "attributes": [{"name": "block", "categories": ["a", "b"]}]},
        input_divergence={"type": "symmetric-difference"}, output_divergence={"type": "mult"}, budget={"epsilon": "ln(4)"},
        mechanism={"type": "geometric", "ratio": "1/4", "queries": [{"type": "marginal", "attributes": attributes}]},
    )  # fmt: skip


@pytest.mark.parametrize(("least", "most", "prior", "possible"), [
    (0, 2, {}, range(3)),
    (0, 2, {"masses": [1, 1, 1, 1, 1]}, range(3)),
    (0, 20, {"most": 3}, range(4)),
    (0, 3, {"least": 1}, range(1, 4)),
])  # fmt: skip
def test_a_posterior_count_is_one_that_a_dataset_of_the_space_can_have(tmp_path, least, most, prior, possible):
    (tmp_path / "r.csv").write_text("query,block,value,status\nperson by block,a,5,published\n")
    found = dp.infer(counted(least, most, ["block"]), tmp_path / "r.csv", model="block-count", prior=prior)
    weights = {k: Fraction(1, 4) ** abs(5 - k) for k in possible}
    mean = sum(k * weight for k, weight in weights.items()) / sum(weights.values())
    assert found["posterior"][0]["mean"] == pytest.approx(float(mean), abs=1e-12)
    assert found["posterior"][0]["interval"][1] <= most


def test_the_number_of_all_records_is_one_of_the_sizes_of_the_space(tmp_path):
    (tmp_path / "r.csv").write_text("query,value,status\nperson total,5,published\n")
    found = dp.infer(counted(7, 9, []), tmp_path / "r.csv", model="block-count")
    weights = {k: Fraction(1, 4) ** (k - 5) for k in (7, 8, 9)}
    mean = sum(k * weight for k, weight in weights.items()) / sum(weights.values())
    assert found["posterior"][0]["mean"] == pytest.approx(float(mean), abs=1e-12)
    with pytest.raises(errors.TableError, match="allows no count"):
        dp.infer(counted(7, 9, []), tmp_path / "r.csv", model="block-count", prior={"most": 6})


def test_a_space_of_many_records_needs_no_end_of_the_prior(tmp_path):
    (tmp_path / "r.csv").write_text("query,block,value,status\nperson by block,a,5,published\n")
    found = dp.infer(counted(0, 10**8, ["block"]), tmp_path / "r.csv", model="block-count")
    assert found["posterior"][0]["mean"] == pytest.approx(5, abs=1e-2)


@pytest.mark.parametrize(("name", "key", "value"), [
    ("mean-and-variance", "mean", "1e400"), ("mean-and-variance", "mean", "-1e30"), ("mean-and-variance", "variance", "1e30"),
    ("regression", "sum_xy", "1e30"), ("regression", "sum_x", "1e400"),
])  # fmt: skip
def test_numbers_whose_posterior_doubles_do_not_resolve_are_refused(tmp_path, name, key, value):
    file, model = {"mean-and-variance": ("lead.toml", name), "regression": ("line.toml", "simple-regression")}[name]
    lines = [line for line in (RELEASED / file).read_text().splitlines() if not line.startswith(f"{key} ")]
    (tmp_path / "n.toml").write_text("\n".join([*lines, f'{key} = "{value}"']))
    said = ask(spec(name), tmp_path / "n.toml", "--model", model, code=2)
    assert "cannot be computed in doubles" in said
    assert len(said.splitlines()) == 1
