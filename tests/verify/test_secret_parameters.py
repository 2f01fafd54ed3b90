"""Secret parameters: the verdict is that of all that the mechanism may be; ranges are decided where an order is known."""

from fractions import Fraction

import pytest

from dpspec.api import build, verify
from dpspec.base.errors import DpspecError
from dpspec.base.words import Word
from dpspec.extension import installed
from dpspec.specfile import read_text, to_toml
from dpspec.specfile.document import MOST_VALUES
from dpspec.verifier.exhaustive import verify as judged
from dpspec.verifier.verdict import Outcome

REGISTRY = installed().registry


def ranged(low, high):
    return {"secret": True, "at_least": low, "at_most": high}


def one_of(*values):
    return {"secret": True, "one_of": list(values)}


def answers(keep, **more):
    tables = {
        "space": {"type": "bit-vectors", "length": 2},
        "input_divergence": {"type": "hamming-ordered"},
        "output_divergence": {"type": "mult"},
        "budget": {"epsilon": "ln(3)"},
        "mechanism": {"type": "randomised-response", "keep_probability": keep},
    }
    return build(**{**tables, **more})


@pytest.mark.parametrize(
    ("keep", "word", "said"),
    [
        (ranged("1/2", "3/4"), Word.HOLDS, "the most revealing"),
        (ranged("1/4", "1/2"), Word.HOLDS, "the most revealing"),
        (ranged("4/5", "9/10"), Word.REFUTED, "ln(4)"),  # shown at 4/5, the least revealing
        (ranged("1/2", "4/5"), Word.UNDECIDED, "verified at keep_probability = 29/40 and refuted at keep_probability = 61/80"),
        (ranged("1/4", "3/4"), Word.UNDECIDED, "nothing is shown between them"),  # no order across 1/2
        (one_of("1/4", "3/4"), Word.HOLDS, "each of 2"),
        (one_of("1/5", "4/5"), Word.REFUTED, "ln(4)"),
        (one_of("1/4", "4/5"), Word.UNDECIDED, "verified at keep_probability = 1/4"),
    ],
)
def test_the_verdict_is_that_of_all_values(keep, word, said):
    (found,) = verify(answers(keep)).obligations
    assert found.word is word
    assert said in found.detail


def test_what_the_file_records_of_it_is_told():
    document = answers(one_of("4/5", "9/10"), claim={"verdict": "refuted", "because": "both keep the truth too often"})
    (found,) = verify(document).obligations
    assert (found.word, found.recorded) == (Word.RECORDED, Outcome.REFUTED)


def test_the_file_names_no_mechanism_that_somebody_might_take_for_the_one():
    document = answers(ranged("1/2", "3/4"))
    assert document.mechanism is None
    assert str(document.secret) == "randomised-response (keep_probability secret, from 1/2 to 3/4)"
    assert read_text(to_toml(document, REGISTRY), REGISTRY) == document


def test_neither_miniatures_nor_parts_stand_beside_a_secret():
    small = {"title": "one bit", "space": {"type": "bit-vectors", "length": 1}}
    with pytest.raises(DpspecError, match="is secret, and the file has miniatures or parts"):
        answers(ranged("1/2", "3/4"), miniature=[small])


def counts(name, **settings):
    return build(
        space={"type": "bit-vectors", "length": 2},
        input_divergence={"type": "hamming-ordered"},
        output_divergence={"type": "mult"},
        budget={"epsilon": 1},
        mechanism={
            "type": name,
            "queries": [{"type": "linear-map", "rows": [[1, 1]], "label": "sum"}],
            "neighbours": "differ-in-one-position",
            **settings,
        },
    )


@pytest.mark.parametrize(
    ("name", "settings", "word"),
    [
        ("geometric", {"epsilon": ranged("1/2", 1)}, Word.HOLDS),
        ("geometric", {"epsilon": ranged(2, 3)}, Word.REFUTED),
        ("geometric", {"epsilon": ranged("1/2", 2)}, Word.UNDECIDED),
        ("geometric", {"ratio": ranged("2/5", "1/2")}, Word.HOLDS),  # ln(5/2) < 1
        ("geometric", {"ratio": ranged("1/9", "1/3")}, Word.REFUTED),  # ln 3 > 1
        ("geometric", {"ratio": ranged("1/9", "1/2")}, Word.UNDECIDED),
        ("laplace", {"epsilon": ranged("1/2", 2)}, Word.UNDECIDED),
        ("laplace", {"epsilon": ranged("1/2", 1)}, Word.HOLDS),
        ("laplace", {"epsilon": ranged(2, 3)}, Word.REFUTED),
    ],
)
def test_noise_of_a_secret_scale(name, settings, word):
    assert verify(counts(name, **settings)).word is word


def test_what_is_said_to_degrade_is_a_post_processing():
    """Flipping again, and adding noise: the kernels are written down, and give the laws of the other parameter exactly."""
    p, to = Fraction(9, 10), Fraction(3, 5)
    flip = (p - to) / (2 * p - 1)
    assert 0 <= flip <= Fraction(1, 2)
    assert p * (1 - flip) + (1 - p) * flip == to
    small, large = Fraction(1, 4), Fraction(1, 2)  # ratios of two-sided geometric noise
    most = 60
    extra = {k: large ** abs(k) * ((1 - small / large) * (1 - small * large) if k else 1 + small**2 - 2 * small * large)
             for k in range(-most, most + 1)}  # fmt: skip
    assert min(extra.values()) >= 0
    scale = Fraction((1 - large) ** 2, (1 - small) ** 2) / (1 - large**2)  # the rest of the quotient of generating functions

    def noise(ratio, k):
        return (1 - ratio) / (1 + ratio) * ratio ** abs(k)

    for k in range(4):
        summed = sum(scale * weight * noise(small, k - j) for j, weight in extra.items())
        assert abs(summed - noise(large, k)) < Fraction(1, 10**15)


def test_a_mechanism_that_changes_the_law_promises_no_order():
    kind = REGISTRY.get("mechanisms", "randomised-response")

    class Other(kind):
        def law(self, dataset, space):
            return super().law(dataset, space)

    assert kind(keep_probability="3/4").degrades("keep_probability", Fraction(1, 2)) is not None
    assert Other(keep_probability="3/4").degrades("keep_probability", Fraction(1, 2)) is None


def test_many_whole_numbers_are_tried_one_by_one_and_more_are_not():
    from dpspec.specfile.document import SecretParameter

    assert SecretParameter(name="k", at_least=1, at_most=MOST_VALUES).is_listed
    many = SecretParameter(name="k", at_least=1, at_most=MOST_VALUES + 1)
    assert not many.is_listed
    assert {many.values()[0], many.values()[-1]} == {1, MOST_VALUES + 1}


def test_the_listed_verdicts_are_those_of_the_single_mechanisms():
    document = answers(one_of("1/4", "2/3", "4/5"))
    outcomes = [judged(mechanism, document.spec).outcome.value for _, mechanism in document.secret.candidates()]
    assert outcomes == ["verified", "verified", "refuted"]


def test_code_with_a_secret_parameter_is_not_run():
    from dpspec.verifier.document import verify_release

    assert verify_release(answers(ranged("1/2", "3/4"))).word is Word.UNCHECKED


@pytest.mark.parametrize("place", [MOST_VALUES - 1, MOST_VALUES])
def test_a_list_of_more_values_than_are_tried_does_not_hold(place):
    """The one value that breaks the claim may be the last: what was not tried is not shown."""
    values = [str(Fraction(1, 2) + Fraction(number, 1000)) for number in range(MOST_VALUES + 1)]
    values[place] = "9/10"
    document = answers(one_of(*values))
    assert len(document.secret.candidates()) < len(values)
    assert not document.secret.is_listed
    assert not verify(document).word.is_good
