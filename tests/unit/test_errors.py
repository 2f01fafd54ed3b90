"""An error that was raised in another process arrives as it was."""

from __future__ import annotations

import pickle

from dpspec.base.errors import DpspecError, Faults, ParameterError, SpecError, error_classes


def copied(error):
    return pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes


def test_every_error_is_copied_with_all_it_says():
    classes = [cls for cls in error_classes() if cls is not Faults]
    assert len(classes) > 50
    expected = ("row=7: is wrong: mend it", "row", "is wrong", "mend it", 7)
    lost = []
    for cls in classes:
        error = DpspecError.__new__(cls)
        DpspecError.__init__(error, "row", "is wrong", "mend it", value=7)
        copy = copied(error)
        if type(copy) is not cls or (str(copy), copy.subject, copy.rule, copy.advice, copy.value) != expected:
            lost.append(cls.__name__)
    assert lost == []


def test_a_place_in_a_file_and_several_faults_are_copied():
    error = SpecError("p", "is wrong")
    error.file, error.line = "a.toml", 3
    several = Faults([error, ParameterError("q", "is negative")])
    copy = copied(several)
    assert str(copy.faults[0]) == "a.toml:3: p: is wrong"
    assert str(copy) == str(several)
    assert copy.exit_code == several.exit_code
