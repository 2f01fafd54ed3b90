"""Python first: everything that a file can name is made by a function of the same name, and `spec` puts five blocks together."""

from __future__ import annotations

import importlib.util
import inspect
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import dpspec as dp
from dpspec.base.params import parameters
from dpspec.constructors import GROUPS, KINDS, documentation, names, signature
from dpspec.specfile.document import SpecDocument
from dpspec.verifier.verdict import Outcome

ROOT = Path(__file__).parents[2]
TEN_LINES = """
import dpspec as dp

people = dp.records(colour=10)
spec = dp.spec(space=people, distance="add-remove", standard="pure", epsilon=1)
counts = dp.laplace(queries=dp.marginal(attributes="colour"), epsilon=1)
verdict = dp.verify(counts, spec)
print(verdict)
"""


def people(**given: object) -> dp.DatasetSpace:
    return dp.records(colour=10, **given)


def test_from_nothing_to_a_verdict_in_ten_lines() -> None:
    assert len(TEN_LINES.strip().splitlines()) <= 10
    assert TEN_LINES.strip() in (ROOT / "README.md").read_text(encoding="utf-8")
    run = subprocess.run([sys.executable, "-c", TEN_LINES], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[0] == "verified"


@pytest.mark.long
def test_the_ten_lines_are_typed(tmp_path: Path) -> None:
    file = tmp_path / "ten.py"
    lines = TEN_LINES + "reveal_type(spec)\nreveal_type(verdict)\nreveal_type(counts)\n"
    file.write_text(lines, encoding="utf-8")
    api = pytest.importorskip("mypy.api")
    out, _, code = api.run(["--strict", str(file), "--cache-dir", str(tmp_path / "cache")])
    assert code == 0, out
    assert '"dpspec.grammar.spec.PrivacySpec"' in out
    assert '"dpspec.verifier.verdict.Verdict"' in out
    assert '"dpspec.grammar.mechanism.Mechanism"' in out
    file.write_text("import dpspec as dp\n\ndp.laplace(epsilom=1)\n", encoding="utf-8")
    out, _, code = api.run(["--strict", str(file), "--cache-dir", str(tmp_path / "cache")])
    assert code == 1
    assert 'Unexpected keyword argument "epsilom"' in out


def test_editors_see_what_there_is() -> None:
    """If not: run python docs/make_face.py"""
    found = importlib.util.spec_from_file_location("make_face", ROOT / "docs" / "make_face.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    assert module.STUB.read_text(encoding="utf-8") == module.stub()


def test_a_mechanism_with_too_little_noise_is_refuted_on_the_whole_space() -> None:
    spec = dp.spec(space=people(), distance="add-remove", standard="pure", epsilon=1)
    verdict = dp.verify(dp.laplace(queries=dp.marginal(attributes="colour"), epsilon=2), spec)
    assert verdict.outcome is Outcome.REFUTED
    assert "x' = (colour 0)" in str(verdict)


def test_the_same_blocks_as_a_file() -> None:
    in_python = dp.spec(
        space=dp.bit_vectors(length=20), distance="hamming-ordered", standard="pure", unit="person", epsilon="ln(3)"
    )
    file = dp.read(Path(__file__).parents[2] / "specs" / "randomised-response.dpspec.toml")
    assert in_python == file.spec
    assert dp.randomised_response(keep_probability="3/4") == file.mechanism
    assert dp.mechanism("randomised-response", keep_probability="3/4") == file.mechanism


def test_what_invariants_leave() -> None:
    total = dp.marginal(attributes="colour")
    with_one = dp.spec(space=people(), distance="hamming", standard="zCDP", rho="1/2", invariants=total)
    assert with_one.multiverse.induced_by() == (total,)
    assert with_one == dp.spec(space=people(), distance=dp.hamming(), standard=dp.d_nor(), rho="1/2", invariants=[total])


def test_attributes_by_their_names() -> None:
    one = dp.records(attributes=[{"name": "sex", "categories": ["f", "m"]}, {"name": "age", "count": 116}], most=5)
    assert one == dp.records(sex=["f", "m"], age=116, most=5) == dp.records(attributes={"sex": ["f", "m"], "age": 116}, most=5)


BAD = [
    (lambda: dp.laplace(epsilom=1), "laplace(epsilom): is no parameter: did you mean epsilon?"),
    (lambda: dp.laplace(epsilon=1), "laplace(queries): is missing"),
    (lambda: dp.laplace(1), "takes its parameters by their names: write laplace(queries=..."),
    (lambda: dp.laplace(queries=dp.marginal(attributes="a"), epsilon=-1), "epsilon=-1: must be an exact number in (0, inf)"),
    (lambda: dp.records(lest=3), "did you mean least? As the name of an attribute write attributes={'lest': ...}"),
    (lambda: dp.records(colour=True), "must be a list of texts"),
    (lambda: dp.records(colour=0), "must be an integer in [1, inf)"),
    (dp.records, "attributes): is missing"),
    (lambda: dp.mechanism("laplce"), "did you mean laplace?"),
    (lambda: dp.mechanism("hamming"), "mechanism=hamming: is not registered"),
    (lambda: dp.path(relation="add-remov"), "did you mean add-remove?"),
    (lambda: dp.verify(dp.spec(space=people(), distance="hamming", standard="pure", epsilon=1)), "nothing that is claimed"),
    (lambda: dp.verify(3, dp.spec(space=people(), distance="hamming", standard="pure", epsilon=1)), "in this order"),
    (lambda: dp.compare(3, 4), "specification: cannot be a int"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "says"), BAD)
def test_what_is_wrong_is_said(call, says) -> None:
    with pytest.raises(dp.DpspecError) as caught:
        call()
    assert says in str(caught.value)


WRONG_SPECS = [
    ({"space": "recrods"}, "space=recrods: is not registered: did you mean records?"),
    ({"space": 3}, "space=3: is none of the kind space"),
    ({"standard": dp.mult}, "call it: mult(...)"),
    ({"invariants": 3}, "must be an invariant, or a list of some"),
    ({"distance": "add-remov"}, "did you mean add-remove?"),
    ({"distance": dp.hamming, "unit": "person"}, "belongs to a distance that is given by its name"),
    ({"distance": "hamming", "unit": "household"}, "household"),
    ({"standard": "pur"}, "standard=pur: is no output divergence and no definition"),
    ({"standard": "local-dp"}, "is a definition that changes the space"),
    ({"standard": "user-level-dp"}, "is a definition that changes"),
    ({"standard": "zCDP"}, "epsilon: is no number of zCDP"),
    ({"standard": "approximate", "delta": "1e-6"}, "must be one of neighbours for approximate"),
    ({"delta": "1e-6"}, "delta: is no number of pure"),
    ({"epsilon": None}, "epsilon"),
    ({"epsilon": "much"}, "epsilon"),
    ({"budget": {"type": "uniform", "parameter": "epsilon", "value": 1}}, "two ways to say one thing"),
    ({"invariants": "marginal"}, "is missing"),
    ({"multiverse": "trivial", "invariants": [{"type": "marginal", "attributes": ["colour"]}]}, "two ways to say one thing"),
    ({"invariants": dp.marginal(attributes="shape")}, "shape"),
    ({"epsilom": 1}, "did you mean epsilon?"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "says"), WRONG_SPECS)
def test_blocks_that_do_not_go_together(changes, says) -> None:
    given = {"space": people(), "distance": "hamming", "standard": "pure", "epsilon": 1, **changes}
    with pytest.raises(dp.DpspecError) as caught:
        dp.spec(**given)
    assert says in str(caught.value)


def test_all_faults_of_a_specification_at_once() -> None:
    with pytest.raises(dp.DpspecError) as caught:
        dp.spec(space="recrods", distance="hammming", standard="pur", epsilon=1)
    assert len(str(caught.value).splitlines()) == 3


def test_approximate_privacy_is_about_neighbours() -> None:
    spec = dp.spec(space=people(), distance="add-remove", standard="approximate", epsilon=1, delta="1e-6")
    assert spec.input_divergence == dp.neighbour(relation="add-remove")
    assert spec.input_divergence == dp.spec(space=people(), distance=dp.add_remove(), standard="pure", epsilon=1).input_divergence
    assert spec.output_divergence == dp.mult_delta(delta="1e-6")


def test_every_registered_thing_has_a_constructor_that_says_what_it_takes() -> None:
    """Hover and help: each parameter with its type, and what it means."""
    listed = set(dir(dp))
    silent = []
    for entry in (entry for entry in dp.installed().registry if entry.kind in KINDS):
        name = entry.name.replace("-", "_")
        assert name in listed
        make = getattr(dp, name)
        shown = inspect.signature(make).parameters
        text = documentation(entry.cls, dp.installed().registry)
        for p in parameters(entry.cls):
            assert shown[p.name].annotation, (name, p.name)
            line = next(line for line in text.splitlines() if line.startswith(f"    {p.name}: "))
            if line.startswith(f"    {p.name}: [") or not line.endswith("]."):
                silent.append((name, p.name))
    assert silent == []


def test_help_shows_parameters_and_domains() -> None:
    text = pydoc.render_doc(dp.gaussian, renderer=pydoc.plaintext)
    assert "epsilon: NumberLike | None" in text
    assert "[rational in (0, 1)]" in text


def test_no_constructor_hides_a_function() -> None:
    assert not set(names()) & set(dp.__all__)


def test_a_misspelt_name_teaches() -> None:
    with pytest.raises(AttributeError, match="did you mean laplace"):
        dp.laplce  # noqa: B018
    with pytest.raises(AttributeError):
        dp.__path_of_nothing__  # noqa: B018
    assert not hasattr(dp, "xyzzy")


def test_modules_are_imported_as_ever() -> None:
    code = "from dpspec import laws, api; import sys; print(laws.__name__, api.__name__, 'dpspec.constructors' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["dpspec.laws", "dpspec.api", "False"]


def test_documents_and_paths_and_blocks_mean_the_same() -> None:
    path = Path(__file__).parents[2] / "specs" / "randomised-response.dpspec.toml"
    document = dp.read(path)
    assert isinstance(document, SpecDocument)
    for one in (str(path), path, document, document.spec):
        assert dp.compare(one, document).relation.value == "equivalent"


def test_groups_hold_the_constructors_of_one_kind_and_no_others() -> None:
    for kind in GROUPS:
        group = getattr(dp, kind)
        registered = {entry.name.replace("-", "_"): entry.cls for entry in dp.installed().registry if entry.kind == kind}
        assert set(dir(group)) == set(registered)
        assert repr(group).splitlines()[0] == f"dpspec.{kind}"
        for name, cls in registered.items():
            assert inspect.signature(getattr(group, name)) == signature(cls)
    assert dp.mechanisms.laplace(queries=dp.marginal(attributes="a"), epsilon=1) == dp.laplace(
        queries=dp.marginal(attributes="a"), epsilon=1
    )
    with pytest.raises(AttributeError, match="did you mean laplace"):
        dp.mechanisms.laplase  # noqa: B018
    with pytest.raises(AttributeError, match=r"dpspec.spaces has no 'laplace': known: "):
        dp.spaces.laplace  # noqa: B018


def test_what_is_printed_as_a_default_may_be_given() -> None:
    assert dp.value_lists(values=[0, 1], most=None) == dp.value_lists(values=[0, 1])
    assert dp.records(attributes=None, colour=3) == dp.records(colour=3)
    with pytest.raises(dp.DpspecError, match="must be a number"):
        dp.value_lists(values=[0, 1], least=None)


def test_categories_may_be_whole_numbers() -> None:
    assert dp.records(colour=range(3)) == dp.records(colour=["0", "1", "2"])
    with pytest.raises(dp.DpspecError, match="twice"):
        dp.records(colour=[1, "1"])
    with pytest.raises(dp.DpspecError, match="non-empty text"):
        dp.records(colour=[True, False])


def test_a_budget_whose_name_means_something_else_is_given_as_the_budget() -> None:
    blocks = {"space": people(), "distance": "add-remove", "standard": "total-variation"}
    spec = dp.spec(**blocks, budget="1/2")
    assert (spec.budget.parameter, spec.budget.value) == ("distance", dp.number("1/2"))
    with pytest.raises(dp.DpspecError, match="budget=") as raised:
        dp.spec(**blocks)
    assert "distance=..." not in str(raised.value)
    with pytest.raises(dp.DpspecError, match="two ways"):
        dp.spec(space=people(), distance="add-remove", standard="pure", epsilon=1, budget=1)
