"""Modules that are imported when the first of their names is used."""

import pickle
import sys

import pytest

from dpspec.plugin import late_module


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that says when it is imported, and computes one of its names when it is asked for."""
    (tmp_path / "lateone.py").write_text(
        "import builtins\nbuiltins.lateone_runs = getattr(builtins, 'lateone_runs', 0) + 1\nvalue = 7\n"
        "def __getattr__(name):\n    if name == 'computed':\n        return value + 1\n    raise AttributeError(name)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield late_module("lateone")
    sys.modules.pop("lateone", None)


def test_it_is_imported_once_and_at_first_use(module):
    assert "lateone" not in sys.modules
    assert module.value == 7
    assert "lateone" in sys.modules
    assert "value" in vars(module)  # no further look-up costs more than in the module itself


def test_names_that_the_module_computes_are_found(module):
    assert module.computed == 8
    assert "computed" not in vars(module)


def test_a_name_that_is_not_there(module):
    with pytest.raises(AttributeError, match="other"):
        module.other  # noqa: B018


def test_a_module_that_is_not_there():
    with pytest.raises(ModuleNotFoundError):
        late_module("no_such_library_anywhere").name  # noqa: B018


def test_it_is_copied_by_its_name():
    import numpy

    assert pickle.loads(pickle.dumps(late_module("numpy"))).ndarray is numpy.ndarray  # noqa: S301
    assert late_module("numpy").__version__ == numpy.__version__
