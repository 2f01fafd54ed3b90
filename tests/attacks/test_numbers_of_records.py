"""Bounds that hold from a number of records on, around which other mechanisms leave records out.

Reports in random order are amplified where every dataset has a thousand records. A filter, a sample, a bound or a part may leave
one of them. Every wrapper states anew how many records are read, or the claim is not verified: the first-party ones, and those of
a stranger who has not heard of numbers of records. The truth is counted here: the delta of one report of k-ary response alone.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any, ClassVar

import attrs
import pytest
from dpspec_census.swapping import DerangementSwapping
from dpspec_checker.statements import ORDER
from dpspec_divergences import (
    AddRemove,
    DifferInOnePosition,
    HockeyStick,
    MultDelta,
    Neighbour,
    Renyi,
    ReplaceOne,
    TotalVariation,
)
from dpspec_flavours.secrets.averages import Subsampled
from dpspec_flavours.trust import Shuffled
from dpspec_noise import ComposedMechanism, Filtered, Geometric, KAryResponse, Parallel, PostProcessed, RandomisedResponse
from dpspec_release.draw import draw

from dpspec import (
    BitVectors,
    ContingencyTables,
    Marginal,
    OrderedRecords,
    PrivacySpec,
    Trivial,
    UniformBudget,
    UnorderedRecords,
    read,
)
from dpspec.base.errors import IncompatibleBlocksError, NotInSpaceError, PluginContractError
from dpspec.base.exact import ln
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.parts import resized, sizes_of
from dpspec.blocks.space import Attribute
from dpspec.extension import installed
from dpspec.grammar.mechanism import Mechanism, stated_structure
from dpspec.grammar.sizes import SizedLaw
from dpspec.grammar.structure import SizeHypothesis, Structure
from dpspec.grammar.views import NoisyCount, View, records_read
from dpspec.plugin import FiniteLaw, Law, define
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.mechanisms import judged
from dpspec.verifier.proof import derive
from dpspec.verifier.sensitivity import Missing
from dpspec.verifier.verdict import Outcome

SEX = Attribute(name="sex", categories=("f", "m"))
ANSWER = Attribute(name="answer", categories=("a", "b"))
PEOPLE = OrderedRecords(attributes=(SEX, ANSWER), least=1_000)
BY_SEX = Marginal(attributes=("sex",))
ONE_ELSE = Neighbour(relation=DifferInOnePosition())
DELTA = Fraction(1, 10**6)
ALONE = 8 / 9 - exp(0.8) / 9
"""The delta at epsilon 0.8 of one report by 2-ary response at ln 8."""

REPORT = KAryResponse(epsilon="ln(8)", attribute="answer")
SHUFFLED = Shuffled(mechanism=REPORT)
WOMEN = {"sex": ("f",)}


def claim(epsilon: Any = "0.8", space: Any = PEOPLE, output: Any = None, near: Any = ONE_ELSE, fixed: bool = True) -> PrivacySpec:
    parameter = {"hockey-stick": "delta", "total-variation": "distance"}.get((output or MultDelta(delta=DELTA)).name, "epsilon")
    return PrivacySpec(
        space=space, multiverse=LevelSets(invariants=(BY_SEX,)) if fixed else Trivial(), input_divergence=near,
        output_divergence=output or MultDelta(delta=DELTA), budget=UniformBudget(parameter=parameter, value=epsilon),
    )  # fmt: skip


def outcome(mechanism: Any, spec: PrivacySpec) -> Outcome:
    try:
        found = derive(mechanism, spec)
    except PluginContractError:
        return Outcome.UNDECIDED
    return Outcome.UNDECIDED if isinstance(found, Missing) else found.outcome


def test_one_report_alone_is_far_beyond_the_claim() -> None:
    assert float(HockeyStick(epsilon="0.8").between(*REPORT.reports(PEOPLE).views[0].laws).lower) == pytest.approx(ALONE)
    assert ALONE > 0.34


# --- first-party wrappers ----------------------------------------------------------------------------


PARTS = [{"categories": [sex], "mechanism": SHUFFLED} for sex in ("f", "m")]
NOISE = Geometric(queries=(Marginal(attributes=("sex",)),), ratio="1/2")
FALSE: dict[str, Mechanism] = {
    "filtered": Filtered(mechanism=SHUFFLED, where=WOMEN),
    "shuffled later": Shuffled(mechanism=Filtered(mechanism=REPORT, where=WOMEN)),
    "filtered later": PostProcessed(mechanism=Filtered(mechanism=SHUFFLED, where=WOMEN), at_least=0),
    "post-processed first": Filtered(mechanism=PostProcessed(mechanism=SHUFFLED, at_least=0), where=WOMEN),
    "composed": ComposedMechanism(parts=(Filtered(mechanism=SHUFFLED, where=WOMEN),)),
    "composed first": Filtered(mechanism=ComposedMechanism(parts=(SHUFFLED, NOISE)), where=WOMEN),
    "of parts": Parallel(attribute="sex", parts=PARTS),
    "of one part": Parallel(attribute="sex", parts=PARTS[:1]),
    "filtered twice": Filtered(mechanism=Filtered(mechanism=SHUFFLED, where={"sex": ("f", "m")}), where=WOMEN),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_thousand_records_of_which_one_is_left_hide_nothing(name: str) -> None:
    assert outcome(FALSE[name], claim()) is not Outcome.VERIFIED
    assert outcome(FALSE[name], claim(fixed=False)) is not Outcome.VERIFIED


@pytest.mark.parametrize("name", ["filtered", "shuffled later", "post-processed first", "of one part"])
def test_the_pair_of_one_woman_refutes(name: str) -> None:
    found = derive(FALSE[name], claim())
    assert not isinstance(found, Missing)
    assert found.outcome is Outcome.REFUTED
    assert found.witness is not None
    assert sum(record[0] == "f" for record in found.witness.left) == 1  # type: ignore[attr-defined]
    assert len(found.witness.left) == 1_000  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("output", "budget"),
    [(HockeyStick(epsilon="0.8"), "1/1000000"), (TotalVariation(), "1/10"), (Renyi(order=2), "1/10")],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_under_every_output_divergence(output: Any, budget: str) -> None:
    spec = claim(budget, output=output)
    assert outcome(SHUFFLED, spec) is Outcome.VERIFIED
    assert outcome(FALSE["filtered"], spec) is Outcome.REFUTED


def test_what_is_right_is_verified() -> None:
    """The whole, all of a condition, what is composed or computed from it, a filter that keeps its local bound."""
    everyone = {"sex": ("f", "m")}
    for mechanism in (
        SHUFFLED, Filtered(mechanism=SHUFFLED, where=everyone), ComposedMechanism(parts=(SHUFFLED,)),
        PostProcessed(mechanism=SHUFFLED, at_least=0), Shuffled(mechanism=Filtered(mechanism=REPORT, where=everyone)),
    ):  # fmt: skip
        assert outcome(mechanism, claim()) is Outcome.VERIFIED, mechanism
    assert outcome(ComposedMechanism(parts=(SHUFFLED, NOISE)), claim("1.5")) is Outcome.VERIFIED
    assert outcome(FALSE["filtered"], claim("2.0795")) is Outcome.VERIFIED
    assert outcome(FALSE["of parts"], claim("2.0795")) is Outcome.VERIFIED


def test_the_proof_states_the_number_of_records() -> None:
    found = derive(SHUFFLED, claim())
    assert not isinstance(found, Missing)
    (step,) = [step for step in found.proof if step.step == "sizes"]
    assert "at least 1,000 records are read" in step.says
    assert "sizes" in ORDER
    table = {"attributes": ["answer"], "unit": "person", "where": {}}
    assert step.data == {"records": [{"table": table, "least": 1_000, "most": None}]}


def test_a_sample_that_is_shuffled_has_as_many_records_as_are_drawn() -> None:
    """Of 1,000 records 20 are drawn: the bound is that of 20 records in random order, at a share of 20/1000."""
    space = UnorderedRecords(attributes=(SEX, ANSWER), least=1_000)
    spec = claim("0.8", fixed=False, space=space, near=Neighbour(relation=ReplaceOne()))
    of_ten = Subsampled(mechanism=Pooled(), size=20)
    found = derive(of_ten, spec)
    assert not isinstance(found, Missing)
    (step,) = [step for step in found.proof if step.step == "sizes"]
    assert step.data["records"][0]["least"] == 20  # type: ignore[index,call-overload]
    assert isinstance(derive(Subsampled(mechanism=Pooled(), rate="1/2"), spec), Missing)


def test_release_of_one_woman_among_a_thousand_is_not_fit_for_publication(tmp_path: Path) -> None:
    file = tmp_path / "women.dpspec.toml"
    file.write_text(WOMEN_FILE, encoding="utf-8")
    table = tmp_path / "people.csv"
    table.write_text("sex,answer\nf,a\n" + "m,a\n" * 999, encoding="utf-8")
    with pytest.raises(Exception, match="refuted"):
        draw(read(file), str(table), installed().registry, tmp_path / "out")
    assert not (tmp_path / "out").exists()


WOMEN_FILE = """
schema = 1
id = "women"
title = "answers of women in random order"
[space]
type = "ordered-records"
attributes = [{ name = "sex", categories = ["f", "m"] }, { name = "answer", categories = ["a", "b"] }]
least = 1000
[multiverse]
invariants = [{ type = "marginal", attributes = ["sex"] }]
[input_divergence]
type = "neighbour"
relation = { type = "differ-in-one-position" }
[output_divergence]
type = "mult-delta"
delta = "1e-6"
[budget]
epsilon = "0.8"
[mechanism]
type = "filtered"
where = { sex = ["f"] }
mechanism = { type = "shuffled", mechanism = { type = "k-ary-response", epsilon = "ln(8)", attribute = "answer" } }
"""


# --- a stranger's mechanisms --------------------------------------------------------------------------


def left(dataset: Any) -> tuple[Any, ...]:
    return tuple(record for record in dataset if record[0] == "f")


@define
class Forgetful(Mechanism):
    """Applies a mechanism to the women, and passes on what the other one says of how it is made."""

    name: ClassVar[str] = "forgetful"

    mechanism: Any

    def law(self, dataset: Any, space: Any) -> Law:
        return self.mechanism.law(left(dataset), attrs.evolve(space, least=0))  # type: ignore[no-any-return]

    def structure(self, space: Any) -> Structure | None:
        return stated_structure(self.mechanism, space)


@define
class Evolving(Forgetful):
    """The same, with a change of its own."""

    name: ClassVar[str] = "evolving"

    def structure(self, space: Any) -> Structure | None:
        found = stated_structure(self.mechanism, space)
        return None if found is None else attrs.evolve(found, publishes_views=False)


@define
class Narrowing(Forgetful):
    """The same with narrowed views, and the number of records of the whole space."""

    name: ClassVar[str] = "narrowing"

    def structure(self, space: Any) -> Structure | None:
        found = stated_structure(self.mechanism, space)
        return None if found is None else attrs.evolve(found, views=tuple(view.restricted(WOMEN) for view in found.views))


@define
class Restating(Forgetful):
    """The same, stated for itself: the condition is in the table, so that the number of women is not known."""

    name: ClassVar[str] = "restating"

    def structure(self, space: Any) -> Structure | None:
        found = stated_structure(self.mechanism, space)
        return None if found is None else found.restated(self.mechanism, self, lambda view: view.restricted(WOMEN))


@attrs.frozen
class Passing(View):
    """A view that passes another one on, of the women."""

    view: View

    @property
    def table(self) -> Marginal:  # type: ignore[override]
        return self.view.table

    def restricted(self, where: Any) -> View:
        return attrs.evolve(self, view=self.view.restricted(where))

    def changed(self, counts: Any) -> Any:
        return self.view.changed(counts)

    def between(self, before: Any, after: Any, space: Any) -> Any:
        return self.view.between(before, after, space)


@attrs.frozen
class Choosing(Passing):
    """The same, which reads the women only."""

    def read(self, dataset: Any, space: Any) -> Any:
        return left(self.view.read(dataset, space))


@define
class Anew(Forgetful):
    """The same, as a structure of views of its own."""

    name: ClassVar[str] = "anew"

    kind: Any = Passing

    def structure(self, space: Any) -> Structure | None:
        found = stated_structure(self.mechanism, space)
        return None if found is None else Structure(views=tuple(map(self.kind, found.views)), publishes_views=False)


@define
class Signed(Forgetful):
    """The same, signed: the view chooses its records itself, so that their number is not known."""

    name: ClassVar[str] = "signed"

    def structure(self, space: Any) -> Structure | None:
        found = stated_structure(self.mechanism, space)
        return None if found is None else found.restated(self.mechanism, self, Choosing)


@define
class Copying(Forgetful):
    """The same, as a copy of the views."""

    name: ClassVar[str] = "copying"

    def structure(self, space: Any) -> Structure | None:
        found = stated_structure(self.mechanism, space)
        return None if found is None else Structure(views=found.views, publishes_views=False)


STRANGERS = (Forgetful, Evolving, Narrowing, Restating, Anew, Signed, Copying)


@pytest.mark.spread(3, slow=3)
@pytest.mark.parametrize("kind", STRANGERS)
def test_a_stranger_who_forgets_numbers_of_records_proves_nothing(kind: Any) -> None:
    """Alone, around and inside what knows of them."""
    for mechanism in (
        kind(mechanism=SHUFFLED), PostProcessed(mechanism=kind(mechanism=SHUFFLED), at_least=0),
        ComposedMechanism(parts=(kind(mechanism=SHUFFLED), SHUFFLED)), kind(mechanism=ComposedMechanism(parts=(SHUFFLED,))),
        kind(mechanism=kind(mechanism=SHUFFLED)), Filtered(mechanism=kind(mechanism=SHUFFLED), where={"sex": ("f", "m")}),
    ):  # fmt: skip
        twice = isinstance(mechanism, ComposedMechanism)
        assert outcome(SHUFFLED if not twice else ComposedMechanism(parts=(SHUFFLED,) * 2), few(1 + twice)) is Outcome.VERIFIED
        assert outcome(mechanism, few(1 + twice)) is not Outcome.VERIFIED, mechanism


def few(times: int) -> PrivacySpec:
    """What `SHUFFLED` keeps on sixty records, and one record alone does not."""
    return claim(Fraction(3, 2) * times, space=attrs.evolve(PEOPLE, least=60), output=MultDelta(delta=Fraction(1, 1_000)))


@pytest.mark.parametrize("kind", [Forgetful, Evolving, Narrowing, Restating, Copying])
def test_shuffling_counts_no_reports_of_a_stranger_who_forgets(kind: Any) -> None:
    assert outcome(Shuffled(mechanism=kind(mechanism=REPORT)), few(1)) is not Outcome.VERIFIED


def test_the_reason_names_the_number_of_records() -> None:
    found = derive(Copying(mechanism=SHUFFLED), few(1))
    assert isinstance(found, Missing)
    assert found.step == "sizes"
    assert "at least 60 records" in found.reason
    found = derive(Restating(mechanism=Pooled()), few(1))
    assert isinstance(found, Missing)
    assert "at least 0 may be read" in found.reason


def test_the_pair_of_one_woman_refutes_a_stranger_too() -> None:
    assert outcome(Restating(mechanism=SHUFFLED), few(1)) is Outcome.REFUTED


@attrs.frozen
class PooledReports(View):
    """Counts of reports by 2-ary response, published as they are: a view whose laws depend on the number of records."""

    table: Marginal
    least: int
    most: int | None = None

    def changed(self, counts: Any) -> Any:
        bounds = {"least": self.least, "most": self.most}
        share = Fraction(1, 3 + self.least)
        laws = [FiniteLaw.of({"x": Fraction(1, 2) + lean, "y": Fraction(1, 2) - lean}) for lean in (share, -share)]
        return {(): ((),), (-1, 1): (((SizedLaw(law=laws[0], **bounds), SizedLaw(law=laws[1], **bounds)),),)}.get(counts)

    def between(self, before: Any, after: Any, space: Any) -> None:
        return None


@define
class Pooled(Mechanism):
    """A stranger's mechanism on any space of people, of a bound that is better the more people there are."""

    name: ClassVar[str] = "pooled"

    limit: Any = None

    def law(self, dataset: Any, space: Any) -> Law:
        return FiniteLaw.point(0)

    def structure(self, space: Any) -> Structure:
        view = PooledReports(Marginal(attributes=("answer",)), sizes_of(space)[0], self.limit)
        return Structure(views=(view,), publishes_views=False, hypotheses=(SizeHypothesis(view=view, by=self),))


def test_a_largest_number_of_records() -> None:
    """A bound for at most 1,500 records holds on a space of at most 1,500, and for what is filtered of it."""
    near = Neighbour(relation=ReplaceOne())
    for most, limit, holds in ((1_500, 1_500, True), (2_000, 1_500, False), (None, 1_500, False)):
        space = UnorderedRecords(attributes=(SEX, ANSWER), least=1_000, most=most)
        spec = claim("0.1", space=space, near=near)
        for mechanism in (Pooled(limit=limit), PostProcessed(mechanism=Pooled(limit=limit), at_least=0)):
            found = derive(mechanism, spec)
            assert isinstance(found, Missing) is not holds, (most, limit, mechanism)
        filtered = derive(Filtered(mechanism=Pooled(limit=limit), where=WOMEN), claim("5", space=space, near=near))
        assert isinstance(filtered, Missing) is not holds


@attrs.frozen
class Arriving(PooledReports):
    """The same for a record that comes or goes."""

    def changed(self, counts: Any) -> Any:
        pair = super().changed((-1, 1))
        return {(): ((),), (1,): pair, (-1,): pair}.get(counts)


@define
class PooledSample(Pooled):
    """The same on a sample that it draws of the people, as a structure that is stated at once: of a thousand none may be left."""

    name: ClassVar[str] = "pooled-sample"

    rate: Any = Fraction(1, 2)

    def structure(self, space: Any) -> Structure:
        view = Arriving(Marginal(attributes=()), 1_000)
        stated = SizeHypothesis(view=view, by=self)
        return Structure(views=(view,), publishes_views=False, sampled=self.rate, hypotheses=(stated,))


@pytest.mark.parametrize(("rate", "holds"), [(Fraction(1), True), (Fraction(999, 1000), False), (Fraction(1, 2), False)])
def test_of_a_thousand_records_a_sample_may_hold_none(rate: Fraction, holds: bool) -> None:
    space = UnorderedRecords(attributes=(SEX, ANSWER), least=1_000)
    found = derive(PooledSample(rate=rate), claim("0.1", space=space, near=Neighbour(relation=AddRemove()), fixed=False))
    assert (found.step if isinstance(found, Missing) else "proved") == ("proved" if holds else "sizes")


def test_records_that_are_read() -> None:
    tables = {"all": {}, "every category": {"sex": ("m", "f")}, "some": WOMEN, "none": {"sex": ()}}
    views = {name: NoisyCount(Marginal(attributes=(), where=where), NOISE.noise) for name, where in tables.items()}
    known = {name: records_read(view, PEOPLE) for name, view in views.items()}
    assert known == {"all": (1_000, None), "every category": (1_000, None), "some": (0, None), "none": (0, None)}
    assert records_read(Choosing(NoisyCount(BY_SEX, NOISE.noise)), PEOPLE) == (0, None)


# --- samples of a fixed size, of a space of a known size ------------------------------------------------


@pytest.mark.parametrize("kind", [OrderedRecords, UnorderedRecords])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 5])
def test_a_sample_from_a_space_of_known_size(kind: Any, size: int) -> None:
    """The space of the samples follows from the size: nothing needs to be said of it."""
    space = kind(attributes=(ANSWER,), least=3, most=3)
    exponential = Subsampled(mechanism=CHOICE, size=size)
    near = Neighbour(relation=ReplaceOne())
    spec = claim(10, space=space, near=near, fixed=False, output=MultDelta(delta=0))
    assert sizes_of(exponential.sampled(space)) == (min(size, 3), min(size, 3))
    truth, found = verify(exponential, spec), derive(exponential, spec)
    assert not isinstance(found, Missing)
    assert truth.constant.lower <= found.constant.upper
    assert found.constant.lower <= truth.constant.upper


CHOICE = installed().registry.get("mechanisms", "exponential")(query=Marginal(attributes=("answer",)), rate="ln(2)")


def test_a_sample_of_bits() -> None:
    two = Subsampled(mechanism=RandomisedResponse(keep_probability="3/4"), size=2)
    assert len(two.law((0, 1, 1), BitVectors(length=3)).support) == 4  # type: ignore[attr-defined]
    assert verify(two, claim(5, space=BitVectors(length=3), fixed=False, output=MultDelta(delta=0))).outcome is Outcome.VERIFIED


def test_a_hundred_of_a_thousand() -> None:
    """The laws are mixtures of more samples than can be listed, and the space of two categories can be: a proof decides."""
    space = UnorderedRecords(attributes=(ANSWER,), least=1_000, most=1_000)
    noise = Geometric(queries=(Marginal(attributes=("answer",)),), ratio="1/2")
    spec = claim("1", space=space, near=Neighbour(relation=ReplaceOne()), fixed=False, output=MultDelta(delta=0))
    found = judged(Subsampled(mechanism=noise, size=100), spec)
    assert found.outcome is Outcome.VERIFIED
    assert found.constant.upper == ln(Fraction(13, 10))  # 1 + (4 - 1)/10


def test_a_sample_by_a_wrapper_that_forgets_who_draws_it() -> None:
    """A tenth of at least a thousand records is drawn; of the women it may be all."""
    space = UnorderedRecords(attributes=(SEX, ANSWER), least=1_000)
    spec = claim("1", space=space, near=Neighbour(relation=ReplaceOne()), fixed=False, output=MultDelta(delta=0))
    tenth = Subsampled(mechanism=Geometric(queries=(Marginal(attributes=("answer",)),), ratio="1/2"), size=100)
    assert outcome(tenth, spec) is Outcome.VERIFIED
    assert outcome(PostProcessed(mechanism=tenth, at_least=0), spec) is Outcome.VERIFIED
    for kind in (Forgetful, Narrowing):
        assert outcome(kind(mechanism=tenth), spec) is not Outcome.VERIFIED
    assert "however many these are" in str(derive(Filtered(mechanism=tenth, where=WOMEN), spec))


def test_samples_that_their_space_does_not_have() -> None:
    some = Subsampled(mechanism=CHOICE, size=2, samples=UnorderedRecords(attributes=(ANSWER,), least=3))
    found = derive(attrs.evolve(some, samples=UnorderedRecords(attributes=(ANSWER,), most=1)), ON_THREE)
    assert isinstance(found, Missing)
    assert "not known to have all samples" in found.reason
    with pytest.raises(NotInSpaceError):
        derive(some, ON_THREE)


ON_THREE = claim(10, space=UnorderedRecords(attributes=(ANSWER,)), near=Neighbour(relation=AddRemove()), fixed=False)


# --- laws that are defined nowhere ----------------------------------------------------------------------


@define
class Nowhere(Geometric):
    """A mechanism with a structure, and with a law on no dataset."""

    name: ClassVar[str] = "nowhere"

    def law(self, dataset: Any, space: Any) -> Law:
        raise NotInSpaceError("dataset", "is not one that this mechanism knows")

    def structure(self, space: Any) -> Structure | None:
        return self.noisy_answers(space)


@define
class Somewhere(Nowhere):
    """The same, with a law on datasets of at most 1,000 records."""

    name: ClassVar[str] = "somewhere"

    def law(self, dataset: Any, space: Any) -> Law:
        return Geometric.law(self, dataset, space) if len(dataset) <= 1_000 else Nowhere.law(self, dataset, space)

    def structure(self, space: Any) -> Structure | None:
        return self.noisy_answers(space)


def test_a_proof_is_about_laws_that_are_defined() -> None:
    spec = claim("2", output=MultDelta(delta=0), fixed=False)
    asked = (Marginal(attributes=("answer",)),)
    found = derive(Nowhere(queries=asked, ratio="1/2"), spec)
    assert isinstance(found, Missing)
    assert found.step == "law"
    assert "no law" in found.reason
    assert outcome(Somewhere(queries=asked, ratio="1/2"), spec) is Outcome.VERIFIED


def test_a_filter_has_a_law_on_every_dataset() -> None:
    women = Filtered(mechanism=Geometric(queries=(Marginal(attributes=("answer",)),), ratio="1/2"), where=WOMEN)
    space = UnorderedRecords(attributes=(SEX, ANSWER), least=2, most=2)
    for dataset in space.datasets():
        women.law(dataset, space)


def test_the_counts_of_a_table_are_no_sequence_of_reports() -> None:
    """Their sorted values hide which cell has which count, while the table is released: it was *verified* at 0.1."""
    space = ContingencyTables(attributes=(SEX, ANSWER), least=1, most=1)
    published = DerangementSwapping(swap=("sex",), match=("answer",), swap_rate=0, unit="person")
    with pytest.raises(IncompatibleBlocksError, match="sequence"):
        Shuffled(mechanism=published).check(space)


# --- spaces of other sizes ------------------------------------------------------------------------------


def test_a_class_that_changes_its_datasets_promises_no_number_of_records() -> None:
    class Lax(OrderedRecords):
        def dataset(self, value: Any) -> Any:
            return tuple(map(tuple, value))

    lax = Lax(attributes=(SEX, ANSWER), least=1_000)
    assert sizes_of(lax) == (0, None)
    assert resized(lax, 0, 3) is None
    assert outcome(SHUFFLED, claim(space=lax)) is not Outcome.VERIFIED
