"""The files on docs/deployments-format.md are read, and end as the page says."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpspec.base.words import Word
from dpspec.cli import main
from dpspec.extension import installed
from dpspec.specfile import read_text, to_toml
from dpspec.verifier.document import verify_document

PAGE = (Path(__file__).parents[2] / "docs" / "deployments-format.md").read_text(encoding="utf-8")
FILES = dict(
    zip(
        re.findall(r'^id = "([\w-]+)"\ntitle', PAGE, re.MULTILINE), re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL), strict=True
    )
)
ENDS = {
    "example-births": Word.UNCHECKED,
    "example-no-number": Word.UNDECIDED,
    "example-at-most": Word.HOLDS,
    "example-unaccounted": Word.UNDECIDED,
    "example-user-day": Word.UNCHECKED,
    "example-secret": Word.HOLDS,
    "example-bounded": Word.HOLDS,
    "example-product": Word.UNCHECKED,  # its share is
}
REGISTRY = installed().registry


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_the_page_reads_writes_and_ends_as_it_says(name: str) -> None:
    document = read_text(FILES[name], REGISTRY)
    assert document.id == name
    assert read_text(to_toml(document, REGISTRY), REGISTRY) == document
    if name in ENDS:
        assert verify_document(document, registry=REGISTRY).word is ENDS[name]


def test_every_key_of_a_deployment_and_of_a_source_is_on_the_page() -> None:
    from dpspec.base.params import parameters
    from dpspec.specfile.deployment import Deployment, PublishedSource

    names = {p.name for cls in (Deployment, PublishedSource) for p in parameters(cls)}
    assert [name for name in sorted(names) if not re.search(rf"\b{name} = ", PAGE)] == []


def test_every_name_of_the_page_is_registered() -> None:
    table = PAGE.split("| what was done | written as |")[1].split("\n\n")[0]
    known = {entry.name for entry in REGISTRY}
    named = {name for name in re.findall(r"`([a-z0-9-]+)`", table) if "_" not in name}
    assert named - known == set()


STANDS_IN = """
schema = 1
id = "made-up"
title = "A promise whose mechanism nobody published"
space = {{ type = "bit-vectors", length = 2 }}
input_divergence = {{ type = "hamming-ordered" }}
output_divergence = {{ type = "mult" }}
budget = {{ epsilon = "ln(3)" }}
mechanism = {{ type = "randomised-response", keep_probability = "3/4" }}

[deployment]
publisher = "A company"
product = "Trends"
year = 2023

[provenance]
{block} = {{ how = "assumed", because = "ours" }}
"""


@pytest.mark.parametrize(("block", "said"), [("mechanism", "so it was not checked"), ("space", "we made up")])
def test_what_stands_in_for_the_release_is_told_to_the_public(block: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "made-up.dpspec.toml"
    path.write_text(STANDS_IN.format(block=block), encoding="utf-8")
    runner = CliRunner()
    public = " ".join(runner.invoke(main, ["explain", str(path), "--audience", "public"]).output.split())
    assert said in public
    assert "We checked that a release made as described here keeps its promise, for all data" not in public
    judged = " ".join(runner.invoke(main, ["verify", str(path)]).output.split())
    assert f"the {block} stands in for another" in judged
