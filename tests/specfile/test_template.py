"""The new specification that a user starts from."""

import pytest

from dpspec.base.errors import ParameterError
from dpspec.extension import installed
from dpspec.specfile import new_spec, read_text


def test_it_reads_without_a_fault() -> None:
    document = read_text(new_spec("my-release"), installed().registry)
    assert document.id == "my-release"
    assert document.mechanism is not None


def test_its_commented_parts_read_too() -> None:
    lines = [line.removeprefix("# ") if line.startswith(("# [[", "# [m", "# t", "# l", "# w", "# rho", "# b", "# r")) else line
             for line in new_spec("full").splitlines()]  # fmt: skip
    document = read_text("\n".join(lines), installed().registry)
    assert len(document.miniatures) == len(document.expectations) == 1
    (expectation,) = document.expectations
    assert expectation.is_met_by(expectation.value(document.spec)) is True


@pytest.mark.parametrize("name", ["", "My-Release", "a b", "a--b", "-a", 'x"', "a_b"])
def test_a_name_that_is_no_id(name: str) -> None:
    with pytest.raises(ParameterError, match="lower-kebab"):
        new_spec(name)
