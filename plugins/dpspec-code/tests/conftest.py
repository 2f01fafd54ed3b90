"""The command line inside the test process, as the tests of the kernel's commands use it."""

import pytest

from tests.cli.conftest import response, run, specs

__all__ = ["response", "run", "specs"]


@pytest.fixture(scope="session", autouse=True)
def _linear_programs_loaded() -> None:
    """Children of the judge solve linear programs: what they import is imported once, before they are forked."""
    import scipy.optimize  # noqa: F401


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stages of the judge run in this process, as on systems without fork: half of the processor time of a verification.

    For functions that do no more than to compute. What children are for is tested in test_child_process.py and
    test_hostile_functions.py, and test_case.py and test_functions.py judge in children.
    """
    monkeypatch.setattr("dpspec_code.child_process.CAN_FORK", False)
