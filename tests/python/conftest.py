"""The command line of the tests of commands, for those that hold functions against it."""

from tests.cli.conftest import run as run
