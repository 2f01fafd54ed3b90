"""Every mistake that `tests/mutants.py` makes is still one change of one place of the code."""

from tests.mutants import MUTANTS, ROOT


def test_every_mutant_changes_one_place() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 40
    assert [m.name for m in MUTANTS if (ROOT / m.file).read_text(encoding="utf-8").count(m.old) != 1] == []
    assert [m.name for m in MUTANTS for path in m.near.split() if not (ROOT / path.partition("::")[0]).exists()] == []
