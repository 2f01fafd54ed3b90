"""What a real notebook shows, through a kernel: values as HTML, errors as one box, help and completion."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import IO

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
CELLS = {
    "begin": """
        import dpspec as dp
        people = dp.records(colour=10)
        spec = dp.spec(space=people, distance="add-remove", standard="pure", epsilon=1)
        counts = dp.laplace(queries=dp.marginal(attributes="colour"), epsilon=1)
    """,
    "specification": "spec",
    "verdict": "dp.verify(counts, spec)",
    "refuted": "dp.verify(dp.laplace(queries=dp.marginal(attributes='colour'), epsilon=2), spec)",
    "comparison": "dp.compare(spec, dp.spec(space=people, distance='add-remove', standard='pure', epsilon=2))",
    "risk": "dp.risk(spec, 'tester', mechanism=counts)",
    "plot": "dp.risk(spec, 'tester', mechanism=counts).plot()",
    "answer": "dp.explain('hamming')",
    "printed": "print(dp.verify(counts, spec))",
    "as text": "page = str(dp.explain('hamming')); dp.compare(spec, spec).to_markdown()[:9]",
    "nasty": "dp.spec(space=dp.records(**{'<script>alert(1)</script>': 2}), distance='add-remove', standard='pure', epsilon=1)",
    "error": "dp.laplace(epsilom=1)",
    "errors of a file": "dp.read('nowhere.dpspec.toml')",
    "help": "help(dp.laplace)",
    "its own fault": "1 / 0",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The cells, each with its outputs; what the kernel said on its own; and what it completes."""
    from textwrap import dedent

    from traitlets.config import Config

    cells = [nbformat.v4.new_code_cell(dedent(text).strip()) for text in CELLS.values()]
    config = Config(KernelManager={"transport_encryption": "auto"})  # as docs/conf.py has it
    notebook, asked = nbformat.v4.new_notebook(cells=cells), {"reply": True, "timeout": 600}

    async def talk(said: IO[str]) -> tuple[list[str], str]:
        client = nbclient.NotebookClient(notebook, config=config, allow_errors=True, timeout=600, kernel_name="python3")
        client.create_kernel_manager().kernel_spec.argv[0] = sys.executable
        async with client.async_setup_kernel(stderr=said, cwd=str(ROOT)):
            for place, cell in enumerate(cells):
                await client.async_execute_cell(cell, place)
            offered = await client.kc.complete("dp.lapl", **asked)
            told = await client.kc.inspect("dp.laplace", 10, **asked)
        return offered["content"]["matches"], told["content"]["data"]["text/plain"]

    path = tmp_path_factory.mktemp("kernel") / "stderr"
    with path.open("w") as said:
        offered, told = asyncio.run(talk(said))
    noise = path.read_text(encoding="utf-8")
    return {name: cell.outputs for name, cell in zip(CELLS, cells, strict=True)}, noise, offered, told


def test_the_kernel_has_nothing_to_complain_of(ran):
    """No warning of a line that is not encrypted, none of a module; nbclient interrupts it at the end, which it may say."""
    lines = [line for line in ran[1].splitlines() if "KeyboardInterrupt caught in kernel" not in line]
    assert lines == []
    assert ran[0]["begin"] == []


@pytest.mark.parametrize("name", ["specification", "verdict", "refuted", "comparison", "risk", "answer", "nasty"])
def test_a_value_is_shown_as_a_page(ran, name):
    (output,) = ran[0][name]
    assert output.output_type == "execute_result"
    page = output.data["text/html"]
    assert page.startswith(('<div class="dpspec"', '<pre class="dpspec"'))
    assert "<script" not in page
    assert not re.search(r"(PrivacySpec|Verdict|Number)\(", page)


def test_words_and_pictures_are_there(ran):
    assert "verified" in ran[0]["verdict"][0].data["text/html"]
    assert "refuted" in ran[0]["refuted"][0].data["text/html"]
    assert "data:image/svg+xml;base64," in ran[0]["risk"][0].data["text/html"]
    assert ran[0]["plot"][0].data["image/svg+xml"].startswith("<svg")
    assert "&lt;script&gt;alert(1)" in ran[0]["nasty"][0].data["text/html"]


def test_what_is_printed_is_text_and_nothing_is_shown_besides(ran):
    (output,) = ran[0]["printed"]
    assert (output.output_type, output.name) == ("stream", "stdout")
    assert output.text.startswith("verified\n")
    (output,) = ran[0]["as text"]
    assert set(output.data) == {"text/plain"}


@pytest.mark.parametrize(
    ("name", "says"), [("error", "did you mean epsilon?"), ("errors of a file", "nowhere.dpspec.toml: cannot be read")]
)
def test_an_error_is_one_box(ran, name, says):
    (output,) = ran[0][name]
    assert output.output_type == "error"
    head, *lines, foot = "\n".join(output.traceback).splitlines()
    assert head.startswith("+-- ")
    assert foot.startswith("+-- dpspec explain ")
    assert all(line.startswith("| ") for line in lines)
    assert says in " ".join(line[2:] for line in lines)


def test_an_error_that_is_none_of_ours_has_its_traceback(ran):
    (output,) = ran[0]["its own fault"]
    assert output.ename == "ZeroDivisionError"
    assert "Traceback" in "".join(output.traceback)


def test_help_hover_and_completion(ran):
    outputs, _, offered, told = ran
    assert any(one.endswith("laplace") for one in offered)
    for text in (outputs["help"][0].text, told):
        plain = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text).split())
        assert "epsilon: NumberLike" in plain.replace("'", "")
        assert "in counts" in plain
