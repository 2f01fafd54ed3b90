"""The command line inside the test process, as the tests of the kernel's commands use it, and releases without verification."""

import pytest
from dpspec_release import draw as engine

from dpspec import SpecDocument
from dpspec.plugin.applications import standing
from tests.cli.conftest import response, run, specs

__all__ = ["response", "run", "specs"]


@pytest.fixture
def unverified(monkeypatch):
    """What is tested here is how tables are read; verifying these mechanisms takes longer than that."""

    def of_spec(document, registry):
        return standing(SpecDocument(id="none", title="None", spec=document.spec), registry)

    monkeypatch.setattr(engine, "standing", of_spec)
