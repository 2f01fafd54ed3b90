"""Files that nobody should send: too large, too deep, not text, not there. Each is refused at once, without a traceback."""

from pathlib import Path

import pytest

from dpspec.base.errors import DpspecError, Faults, SpecFileError, SpecSyntaxError, SpecTooLargeError
from dpspec.base.params import each
from dpspec.extension import installed
from dpspec.specfile import check_ids, read, read_text, spec_files
from dpspec.specfile.reader import SIZE_LIMIT, parse

REGISTRY = installed().registry
HEAD = 'schema = 1\nid = "x"\ntitle = "x"\n'


def test_ten_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "big.dpspec.toml"
    path.write_text(HEAD + "# filler\n" * 1_200_000)
    with pytest.raises(SpecTooLargeError, match="1,000,000 bytes"):
        read(path, REGISTRY)
    with pytest.raises(SpecTooLargeError):
        read_text(path.read_text(), REGISTRY)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 1000 + "]" * 1000,
        "x = " + "{a = " * 1000 + "1" + "}" * 1000,
        "[" + ".".join(["a"] * 1000) + "]",
        ".".join(["a"] * 1000) + " = 1",
        ".".join(["a"] * 400_000) + " = 1",
        "x = " + "[" * (SIZE_LIMIT - 100),
        "x = 0x" + "f" * 5000,
        "x = " + "9" * 5000,
        '"""\n' + '"[' * 400_000,
    ],
    ids=[
        "lists",
        "inline tables",
        "header",
        "dotted key",
        "long dotted key",
        "a megabyte of brackets",
        "hexadecimal digits",
        "digits",
        "unclosed string",
    ],
)
def test_too_deep_or_unclosed(text: str) -> None:
    with pytest.raises((SpecTooLargeError, SpecSyntaxError)) as caught:
        read_text(HEAD + text, REGISTRY)
    assert caught.value.file == "<text>"


@pytest.mark.parametrize("before", [0, 1, 7])
@pytest.mark.parametrize("text", ["x = " + "[" * 1000, "[" + ".".join(["a"] * 1000) + "]", "x = " + "9" * 5000])
def test_what_is_too_deep_or_too_long_is_told_with_its_line(text: str, before: int) -> None:
    with pytest.raises(SpecTooLargeError) as caught:
        read_text("# a comment\n" * before + text + "\n# the end\n", REGISTRY)
    assert caught.value.line == before + 1


def test_brackets_in_strings_and_comments_do_not_count() -> None:
    deep = "[" * 100
    assert parse(f"# {deep}\nx = \"{deep}\"\ny = '''\n{deep}'''\n") == {"x": deep, "y": deep}


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "latin.dpspec.toml"
    path.write_bytes(HEAD.encode() + 'note = "für"'.encode("latin-1"))
    with pytest.raises(SpecSyntaxError, match="UTF-8") as caught:
        read(path, REGISTRY)
    assert (caught.value.line, caught.value.file) == (4, str(path))


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "bom.dpspec.toml"
    path.write_bytes(b"\xef\xbb\xbf" + spec_files(_specs())[0].read_bytes())
    assert read(path, REGISTRY).spec is not None


def _specs() -> Path:
    return Path(__file__).parents[2] / "specs"


def test_missing_and_directory(tmp_path: Path) -> None:
    with pytest.raises(SpecFileError, match="No such file"):
        read(tmp_path / "nowhere.dpspec.toml", REGISTRY)
    with pytest.raises(SpecFileError, match="is a directory"):
        read(tmp_path, REGISTRY)
    with pytest.raises(SpecFileError, match="holds no file"):
        spec_files(tmp_path)
    with pytest.raises(SpecFileError, match="does not exist"):
        spec_files(tmp_path / "nowhere")
    with pytest.raises(SpecFileError):
        read("a\0b", REGISTRY)


@pytest.mark.parametrize(
    "text", ["", "\n", "schema", "=", "[", "schema = 1", "schema = true", 'schema = "1"', "\0", "x = 9" + "9" * 5000]
)
def test_scraps_are_refused(text: str) -> None:
    with pytest.raises(DpspecError):
        read_text(text, REGISTRY)


@pytest.mark.slow
def test_many_unknown_keys_are_answered_briefly() -> None:
    text = HEAD + "".join(f"key{i} = 1\n" for i in range(50_000))
    with pytest.raises(Faults) as caught:
        read_text(text, REGISTRY)
    assert len(each(caught.value)) < 40


@pytest.mark.long
def test_many_faults_are_counted_and_the_first_are_shown() -> None:
    with pytest.raises(Faults) as caught:
        read_text(HEAD + '[[expect]]\nroute = "rule-of-thumb"\n' * 20_000, REGISTRY)
    faults = each(caught.value)
    assert len(faults) == 101
    assert "faults: the first 100" in str(faults[-1])


@pytest.mark.parametrize("number", ["1e99999", "-1e-99999", '"1e99999"', '"ln(1e99999)"', '"' + "9" * 5000 + '"'])
def test_numbers_that_would_fill_the_memory(number: str) -> None:
    text = HEAD + f'[space]\ntype = "bit-vectors"\nlength = {number}\n[budget]\nepsilon = {number}\n'
    with pytest.raises(Faults) as caught:
        read_text(text, REGISTRY)
    assert {"space.length", "budget.epsilon"} <= {fault.subject for fault in each(caught.value) if "digits" in fault.rule}


def test_two_files_of_one_id() -> None:
    first = read(spec_files(_specs())[0], REGISTRY)
    with pytest.raises(DpspecError, match="is the id of") as caught:
        check_ids((first, first, read(spec_files(_specs())[0], REGISTRY)))
    assert {fault.code for fault in each(caught.value)} == {"duplicate-id"}
