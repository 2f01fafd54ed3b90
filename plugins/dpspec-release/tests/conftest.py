"""The command line inside the test process, as the tests of the kernel's commands use it."""

from tests.cli.conftest import response, run, specs

__all__ = ["response", "run", "specs"]
