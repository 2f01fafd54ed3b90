"""The locator against the parser: every path of the data is found, on the line where it was written."""

import tomllib

from hypothesis import given, strategies as st

from dpspec.base.errors import DpspecError
from dpspec.specfile.maker import FilePositions

TEXT = '''# a comment [with] = signs
top = 1
"quoted key" = "a # in a text"
date = 2024-01-01 07:30:00
[a]            # [not.this]
b = """
[c]
x = 1"""
list = [
  1,
  { x = 2, y = [
    3, "]",
  ] },   # }
]
d.e.f = 4
[[a.rows]]
x = 5
[a.rows.sub]
y = 6
[[a.rows]]
x = 7
[[a.rows.deep]]
z = 'it''s'
'''.replace("'it''s'", "'it\"s'")


def test_lines_of_a_text_with_everything() -> None:
    lines = FilePositions.of(TEXT, tomllib.loads(TEXT)).lines
    expected = {
        "top": 2, "quoted key": 3, "date": 4, "a": 5, "a.b": 6, "a.list": 9, "a.list[0]": 10, "a.list[1]": 11, "a.list[1].x": 11,
        "a.list[1].y[0]": 12, "a.list[1].y[1]": 12, "a.d.e.f": 15, "a.rows[0]": 16, "a.rows[0].x": 17,
        "a.rows[0].sub.y": 19, "a.rows[1]": 20, "a.rows[1].x": 21, "a.rows[1].deep[0].z": 23,
    }  # fmt: skip
    assert {path: lines.get(path) for path in expected} == expected


def test_a_path_that_is_absent_takes_the_line_of_the_nearest_one() -> None:
    positions = FilePositions.of(TEXT, tomllib.loads(TEXT))
    assert positions.nearest("a.rows[1].absent.deeper[3]") == 20
    assert positions.nearest("nowhere") == 1


def test_a_fault_is_placed_by_its_subject_then_by_its_value() -> None:
    positions = FilePositions.of(TEXT, tomllib.loads(TEXT))
    assert positions.of_fault(DpspecError("a.rows[0].x", "is wrong"), "a") == 17
    assert positions.of_fault(DpspecError("invariant", "is wrong", value="]"), "a.list") == 12
    assert positions.of_fault(DpspecError("the z", "is wrong"), "a.rows[1]") == 23
    assert positions.of_fault(DpspecError("something", "is wrong"), "a.rows[1]") == 20


keys = st.from_regex(r"[a-z][a-z0-9_-]{0,5}", fullmatch=True)
plain = st.one_of(st.integers(), st.booleans(), st.text(st.characters(codec="ascii", exclude_categories=["C"]), max_size=8))


def write(value: object) -> str:
    """One value in TOML, lists over several lines."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return "[" + "".join(f"\n {write(entry)}, # ]\n" for entry in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {write(entry)}" for key, entry in value.items()) + " }"
    return str(value)


def paths(value: object, path: str) -> list[str]:
    if isinstance(value, dict):
        return [path, *(p for key, entry in value.items() for p in paths(entry, f"{path}.{key}"))]
    if isinstance(value, list):
        return [path, *(p for place, entry in enumerate(value) for p in paths(entry, f"{path}[{place}]"))]
    return [path]


@given(
    st.dictionaries(keys, st.recursive(plain, lambda inner: st.lists(inner, max_size=3), max_leaves=8), min_size=1, max_size=4)
)
def test_every_path_of_any_document_is_found(table: dict[str, object]) -> None:
    text = "".join(f"\n{key} = {write(value)}" for key, value in table.items()) + "\n"
    data = tomllib.loads(text)
    assert data == table
    lines = FilePositions.of(text, data).lines
    for key, value in table.items():
        for path in paths(value, key):
            assert path in lines
        start = text.split("\n").index(f"{key} = {write(value)}".split("\n")[0]) + 1
        assert lines[key] >= start or text.count(f"\n{key} = ") > 1
