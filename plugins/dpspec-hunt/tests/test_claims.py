"""What documentation claims of a function, and what it does not."""


import pytest
from dpspec_hunt.claims import has_multiple, stated_neighbours, stated_values, statements
from dpspec_hunt.draws import drawings
from dpspec_hunt.modules import modules_of


def read(tmp_path, text="", **texts):
    """The functions that draw of some modules, by name: one text is called m."""
    for name, content in ({"m": text} if text else texts["files"]).items():
        place = tmp_path / f"{name}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    return {one.place: one for one in drawings(modules_of(str(tmp_path)).modules)}


def test_nothing_is_imported_and_what_cannot_be_read_is_listed(tmp_path):
    found = read(tmp_path, "raise SystemExit('imported')\ndef f(count, epsilon, rng): return count + rng.laplace(0, 1)")
    assert list(found) == ["m:f"]
    (tmp_path / "broken.py").write_text("def f(:")
    (tmp_path / "latin.py").write_bytes("# -*- coding: utf-8 -*-\nx = '\xe9'".encode("latin-1"))
    (tmp_path / "large.py").write_bytes(b"#" * (1 << 20) + b"\n")
    (tmp_path / "deep.py").write_text("x = " + "(" * 5000 + ")" * 5000)
    (tmp_path / "nothing.py").mkdir()
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "h.py").write_text("import numpy as np\ndef h(): return np.random.laplace()")
    read_now = modules_of(str(tmp_path))
    assert [module.name for module in read_now.modules] == ["m"]
    assert [name for name, _ in read_now.unread] == ["broken.py", "deep.py", "gone.py", "large.py", "latin.py"]


@pytest.mark.parametrize(("text", "expected"), [
    ("is epsilon-DP", ["epsilon 1"]),
    ("``epsilon``-differentially private", ["epsilon 1"]),
    (r"$\varepsilon$-differential privacy", ["epsilon 1"]),
    ("2 \N{GREEK SMALL LETTER EPSILON}-DP", ["epsilon 2"]),
    ("2 * (epsilon)-DP", ["epsilon 2"]),
    ("1/2 epsilon-DP", ["epsilon 1/2"]),
    ("epsilon-LDP", ["epsilon 1"]),
    ("sqrt(2)*epsilon-DP", [None]),
    ("k epsilon-DP", [None]),
    ("epsilon_1-DP", [None]),
    ("(epsilon1 + epsilon2)-DP", [None]),
    ("(e^epsilon)-DP", [None]),
    ("epsilon + delta-DP", [None]),
    ("(1, 2, 3)-DP", [None]),
    ("log2(3)-DP", [None]),
    ("max(3)-DP", [None]),
    ("min(1, epsilon)-DP", [None]),
    ("1 000-DP", [None]),
    ("differentially private", []),
    ("two DP mechanisms", []),
    ("DP", []),
])  # fmt: skip
def test_statements(text, expected):
    found = [one.terms for one in statements(text)]
    assert [terms and " ".join(f"{name} {term.times}" for name, term in terms.items()) for terms in found] == expected


@pytest.mark.parametrize("text", [
    "Theorem 3 DP", "Section 2 DP", "Sec. 2 DP",
    "version 2 differentially private", "Unlike [3], which is 2-DP", "not 1-DP", "each step is 0.1-DP",
    "0.1-DP per coordinate", "2-DP in total", "The paper proves 3-DP", "at most 1-DP", "1 DP",
    "This violates 1-DP", "With this bug it is no longer 1-DP", "Loses more than 1-DP allows", "Almost 1-DP", "It cannot be 1-DP",
    "1-DP if all values differ", "1-DP provided that values lie below 5", "1-DP, but the length is public", "1-DP only for sums",
    "Each answer is epsilon-DP", "This is not epsilon-DP", "epsilon-DP with respect to age", "epsilon-DP if it is clipped",
])  # fmt: skip
def test_doubts(text):
    assert all(one.doubt for one in statements(text))
    assert statements(text)


@pytest.mark.parametrize(
    "text", ["1e1*" * 80 + "~ DP", "1/2a*" * 80 + "~ DP", "1" * 20_000 + "~ DP", "1" * 300 + "-DP", "DP " * 3_000]
)
def test_long_expressions_are_not_read(text):
    """Each product of a docstring doubled the work: one of 150 characters did not end."""
    assert statements(text) == ()


def test_words_that_name_neighbours_are_no_doubt():
    for text in ("1-DP if one record is added or removed", "1-DP: only one record is replaced", "Two-sided noise, epsilon-DP"):
        assert [one.doubt for one in statements(text)] == [""]


def test_values_and_neighbours():
    assert {name: [str(fact.value) for fact in some] for name, some in stated_values("epsilon = 1, delta of 1e-6.").items()} == {
        "epsilon": ["1"], "delta": ["1e-6"],
    }  # fmt: skip
    assert stated_values("epsilon = 2 * sensitivity / b") == {}
    assert [fact.is_guess for fact in stated_values("Each step has epsilon = 1.")["epsilon"]] == [True]
    assert has_multiple("the budget is epsilon/3")
    assert not has_multiple("noise of scale 2/epsilon")
    assert stated_neighbours("nothing") is None
    assert stated_neighbours("local differential privacy").value == "one-entry"
    for text in ("one value replaced", "when a single record is changed", "any single entry may be substituted"):
        assert stated_neighbours(text).value == "replace-one"
    for text in ("one person is removed", "a single row added"):
        assert stated_neighbours(text).value == "add-remove"
    assert stated_neighbours("a value is replaced by 0 if it is missing") is None


@pytest.mark.parametrize(
    ("text", "neighbours", "is_guess"),
    [
        ("Sum of values; epsilon-DP. Adds and removes noise.", "add-remove", True),
        ("Epsilon-DP; adds or removes noise.", "add-remove", True),
        ("Number of values; epsilon-DP. Replaces any value above 100 by 100.", "replace-one", True),
        ("Epsilon-DP; it changes a value that is missing to 0.", "replace-one", True),
        ("Count the records of the local shop, epsilon-DP.", "one-entry", True),
        ("Each report is locally private.", "one-entry", False),
        ("A locally epsilon-differentially private report.", "one-entry", False),
        ("Epsilon-DP under changes of one entry.", "replace-one", False),
        ("Adjacent lists: changing a value moves the sum by 1.", "replace-one", False),
        ("Adding or removing one person.", "add-remove", False),
        ("Epsilon-DP, not for adding or removing records.", "add-remove", True),
        ("Neighbours replace one record rather than adding or removing one.", "replace-one", True),
    ],
)
def test_what_a_function_does_to_its_values_says_nothing_of_neighbours(text, neighbours, is_guess):
    """A sum that "adds and removes noise" was verified for one record added or removed, as if its text said so."""
    found = stated_neighbours(text)
    assert (found.value, found.is_guess) == (neighbours, is_guess)
