"""The command line inside the test process, as the tests of the kernel's commands use it."""

import pytest

from tests.cli.conftest import response, run, specs

__all__ = ["response", "run", "specs"]


@pytest.fixture(scope="session", autouse=True)
def _linear_programs_loaded() -> None:
    """Children of the judge solve linear programs: what they import is imported once, before they are forked."""
    import scipy.optimize  # noqa: F401
