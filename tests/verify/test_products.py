"""Products of several promises: each is judged, all have to hold; comparisons of products."""

import attrs
import pytest

from dpspec.api import build, compare, order_specs, read, verify
from dpspec.base.words import Word
from dpspec.comparison.compare import Answer
from dpspec.extension import installed
from dpspec.specfile import to_toml
from dpspec.verifier.standing import standing


def product(*parts, epsilon="ln(3)", name="product", **more):
    tables = {
        "id": name,
        "space": {"type": "bit-vectors", "length": 2},
        "input_divergence": {"type": "hamming-ordered"},
        "output_divergence": {"type": "mult"},
        "budget": {"epsilon": epsilon},
        "mechanism": {"type": "randomised-response", "keep_probability": "3/4"},
        "part": list(parts),
    }
    return build(**{**tables, **more})


ZERO_CONCENTRATED = {"title": "measured otherwise", "output_divergence": {"type": "d-nor"}, "budget": {"rho": 1}}
TOO_SMALL = {"title": "a smaller number", "budget": {"epsilon": 1}}


@pytest.mark.parametrize(
    ("parts", "word"),
    [
        ([], Word.HOLDS),
        ([ZERO_CONCENTRATED], Word.HOLDS),
        ([TOO_SMALL], Word.REFUTED),
        ([ZERO_CONCENTRATED, TOO_SMALL], Word.REFUTED),
        ([{**TOO_SMALL, "verdict": "refuted"}], Word.RECORDED),
        ([{**TOO_SMALL, "share": "0.99"}], Word.UNDECIDED),
        ([{**TOO_SMALL, "share": "0.99", "verdict": "undecided"}], Word.UNCHECKED),
        ([{"title": "no number", "budget": {"stated": False}}], Word.UNDECIDED),
    ],
)
def test_the_verdict_of_a_product_is_that_of_its_worst_part(parts, word):
    found = verify(product(*parts))
    assert found.word is word
    assert len(found.obligations) == 1 + len(parts)


def test_a_product_stands_no_better_than_its_worst_part():
    assert standing(product(ZERO_CONCENTRATED)).word is Word.VERIFIED
    assert standing(product(TOO_SMALL)).word is Word.REFUTED


def test_a_part_without_a_mechanism_was_not_checked():
    route = {"type": "sum", "numbers": ["1", "1"]}
    number = {"what": "two", "epsilon": 2, "tolerance": 0, "because": "a sum", "route": route}
    tables = {
        "space": {"type": "bit-vectors", "length": 2},
        "input_divergence": {"type": "hamming-ordered"},
        "output_divergence": {"type": "mult"},
        "budget": {"epsilon": 1},
        "expect": [number],
    }
    assert verify(build(**tables)).word is Word.HOLDS
    assert verify(build(**tables, part=[TOO_SMALL | {"budget": {"epsilon": 2}}])).word is Word.UNCHECKED


def test_a_product_implies_what_one_of_its_promises_implies():
    two, one = product(TOO_SMALL), product(epsilon=1)
    assert compare(two, one).forward.answer is Answer.IMPLIES
    assert compare(one, two).forward.answer is Answer.IMPLIES  # 1 gives 1, and ln 3 besides
    found = compare(product(), two)
    assert found.forward.answer is Answer.SEPARATED  # one promise, which breaks the second
    assert [step.holds for step in found.forward.steps] == [True, False]


def test_what_separates_single_promises_separates_products_where_it_keeps_the_others():
    """ln 3 alone does not give 1, and rho = 1/2 alone does not; whether both together do, is another question. But whatever
    keeps ln 3 keeps rho = 1, too."""
    found = compare(product({**ZERO_CONCENTRATED, "budget": {"rho": "1/2"}}), product(epsilon=1))
    assert found.forward.answer is Answer.UNKNOWN
    assert found.forward.separation is None
    found = compare(product(ZERO_CONCENTRATED), product(epsilon=1))
    assert found.forward.answer is Answer.SEPARATED
    assert found.forward.separation is not None


def test_a_promise_to_a_share_is_promised_to_nobody_in_particular():
    """Nor does it follow that none keeps the other: what breaks it may break the promise to the share."""
    assert compare(product({**TOO_SMALL, "share": "0.99"}), product(epsilon=1)).forward.answer is Answer.UNKNOWN


def test_a_promise_to_a_share_is_one_to_each_smaller_share():
    """The data of 99 of 100 persons hold those of 90: it was unknown, and `diff` said that it does not follow."""
    most, fewer = (product({**TOO_SMALL, "share": share}) for share in ("0.99", "0.9"))
    assert compare(most, fewer).forward.answer is Answer.IMPLIES
    assert compare(fewer, most).forward.answer is Answer.UNKNOWN


def test_a_part_without_a_mechanism_of_its_own_is_about_the_release_of_the_file():
    document = product(TOO_SMALL)
    (part,) = document.parts
    without = attrs.evolve(document, parts=(attrs.evolve(part, mechanism=None),))
    assert without.mechanism is not None
    assert without.releases == document.releases == 1


def test_the_order_of_many_looks_at_all_promises():
    documents = [product(TOO_SMALL, name="two"), product(name="one")]
    found = order_specs(documents)
    assert (found.implies(0, 1), found.implies(1, 0)) == (True, False)


def test_a_product_survives_writing_and_reading(tmp_path):
    document = product(ZERO_CONCENTRATED, {**TOO_SMALL, "share": "0.99", "view": "analyst", "because": "so it is said"})
    path = tmp_path / "product.dpspec.toml"
    path.write_text(to_toml(document, installed().registry))
    assert read(path) == document


def test_release_code_is_judged_for_every_part_and_never_holds_beside_a_step_outside():
    import attrs

    from dpspec.specfile.deployment import UnaccountedStep
    from dpspec.verifier.document import verify_release

    document = product(ZERO_CONCENTRATED, TOO_SMALL)
    assert [found.word for found in verify_release(document).obligations] == [Word.HOLDS, Word.HOLDS, Word.REFUTED]
    step = UnaccountedStep(step="a threshold", effect="tells counts")
    assert verify_release(attrs.evolve(product(), unaccounted=(step,))).word is Word.UNDECIDED


def test_a_total_says_what_is_not_in_it():
    from dpspec.api import ledger

    document = product(ZERO_CONCENTRATED)
    assert any("also promises, outside of the total" in line for line in ledger(document, document).losses())


def test_what_looks_at_one_promise_says_so(tmp_path):
    from click.testing import CliRunner

    from dpspec.cli import main

    path = tmp_path / "product.dpspec.toml"
    path.write_text(to_toml(product(ZERO_CONCENTRATED), installed().registry))
    found = CliRunner().invoke(main, ["compare", str(path), str(path), "--yardstick"])
    assert "about its first promise alone" in found.output
    assert CliRunner().invoke(main, ["compare", str(path), str(path), "--derivation", str(tmp_path / "d.json")]).exit_code == 2
