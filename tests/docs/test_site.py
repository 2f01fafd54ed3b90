"""The site: the checks of a built site, its parts, its navigation, and a small site. `.ci/run` builds the site itself."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version as installed_version
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(autouse=True)
def _modules_of_docs(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))


def module(name: str):
    found = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    made = importlib.util.module_from_spec(found)
    found.loader.exec_module(made)
    return made


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<a href="there.html#place">x</a>', None),
        ('<a href="https://example.org">x</a>', None),
        ('<img src="data:image/png;base64,AAAA">', None),
        ('<a href="nowhere.html">x</a>', "links to nowhere.html, which is not there"),
        ('<a href="there.html#no">x</a>', "the page has no such place"),
        ('<a href="#no">x</a>', "the page has no such place"),
        ('<img src="no.svg">', "shows no.svg, which is not there"),
        ('<script src="https://example.org/x.js"></script>', "from elsewhere"),
        ('<script src="//example.org/x.js"></script>', "from elsewhere"),
        ('<link rel="stylesheet" href="https://example.org/x.css">', "from elsewhere"),
        ('<style>@import url("https://example.org/x.css");</style>', "from elsewhere"),
    ],
)
def test_faults_of_a_built_page(tmp_path, text, said):
    (tmp_path / "there.html").write_text('<p id="place"></p>', encoding="utf-8")
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    found = list(module("make_site").faults(tmp_path))
    assert found == [] if said is None else len(found) == 1 and said in found[0]


def test_a_style_that_fetches_is_found(tmp_path):
    (tmp_path / "x.css").write_text("@font-face { src: url(https://example.org/f.woff2) }", encoding="utf-8")
    assert list(module("make_site").faults(tmp_path)) == ["x.css fetches from elsewhere"]


def test_a_missing_library_is_one_line(monkeypatch, capsys, tmp_path):
    maker = module("make_site")
    monkeypatch.setattr(maker, "NEEDED", ("no_such_library",))
    monkeypatch.setattr(sys, "argv", ["make_site.py", "--out", str(tmp_path / "site")])
    assert maker.main() == 1
    assert capsys.readouterr().err == "no_such_library: not installed: run pip install -r requirements-docs.txt\n"


def test_a_folder_with_other_things_is_left_alone(monkeypatch, capsys, tmp_path):
    maker = module("make_site")
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    monkeypatch.setattr(maker, "NEEDED", ())
    monkeypatch.setattr(sys, "argv", ["make_site.py", "--out", str(tmp_path)])
    assert maker.main() == 1
    assert "name another folder" in capsys.readouterr().err
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "mine"


def test_the_glossary_has_every_word():
    words = tomllib.loads((ROOT / "dpspec" / "report" / "glossary.toml").read_text(encoding="utf-8"))["word"]
    made = "\n".join(module("site_parts").glossary())
    assert [word["name"] for word in words if f"## {word['name']}\n" not in made] == []


def test_every_recorded_measurement_is_on_the_page_of_costs():
    """With all of its goals, of whatever kind they are."""
    parts = module("site_parts")
    page = "\n".join(parts.measured())
    lines = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))["lines"]
    assert [name for name in lines if f"(`{name}`) |" not in page] == []
    assert page.count("(met)") + page.count("(missed)") == sum(len(line["goals"]) for line in lines.values())
    assert "| `compare-files` |" in "\n".join(parts.growth())
    assert "| installed |" in "\n".join(parts.first_minutes())
    lines = json.loads((ROOT / "benchmarks" / "memory.json").read_text(encoding="utf-8"))["lines"]
    page = "\n".join(parts.memory())
    assert [line for line in lines.values() if f"| `{line['what']}` | {line['files']} |" not in page] == []


def test_the_reference_has_a_page_for_every_name(tmp_path):
    """Each public name, and each function that a registered class adds, has one page, in a table of a topic, with its source."""
    import dpspec
    import dpspec.plugin
    from dpspec.constructors import GROUPS, names

    api = module("site_api")
    api.write_pages(SimpleNamespace(srcdir=tmp_path))
    pages = {page.relative_to(tmp_path).with_suffix("").as_posix() for page in tmp_path.rglob("*.md")}
    public = {name for face in (dpspec, dpspec.plugin) for name in face.__all__ if not name.startswith("__")}
    assert {page.rpartition("/")[2] for page in pages} >= public | set(names()) - set(GROUPS)  # a group is the table of its topic
    assert len({page.casefold() for page in pages}) == len(pages) > 350
    listed = "\n".join(line for face in api.PACKAGES for line in api.tables(face))
    assert {page for page in pages if listed.count(f"(../{page}.md) |") != 1} == set()
    assert "Other names" not in "".join(api.tables("dpspec"))
    assert set(api.sources) == pages
    assert [path for path in api.sources.values() if not (ROOT / path).is_file()] == []
    assert api.sources["api/functions/laplace"] == "plugins/dpspec-noise/src/dpspec_noise/gaussian.py"
    api.remove_pages(tmp_path)
    assert list(tmp_path.rglob("*.md")) == []


def test_every_block_of_commands_has_its_output():
    """What follows a block of commands is what it prints, a figure that it writes, or a comment with the reason for neither."""
    shown = re.compile(r"^( *)```(?:sh|console)\n(.*?)^\1```\n\s*(\S[^\n]*)", re.MULTILINE | re.DOTALL)
    pages = [ROOT / "README.md", *DOCS.glob("*.md"), *(DOCS / "tutorials").glob("*.md"), *(DOCS / "releases").glob("*.md")]
    blocks = [(page.name, *found.groups()[1:]) for page in pages for found in shown.finditer(page.read_text(encoding="utf-8"))]
    assert len(blocks) > 90
    right = re.compile(r"```(?:text|html|json|toml)$|!\[|<!-- no output: \w+.*-->$")
    assert [(page, commands) for page, commands, after in blocks if not right.match(after)] == []


def test_every_displayed_formula_is_read():
    pytest.importorskip("latex2mathml")
    as_mathml = module("site_parts").as_mathml
    pages = [page for page in DOCS.rglob("*.md") if "examples" not in page.parts]
    displayed = re.compile(r"^\$\$\n(.*?)^\$\$$", re.MULTILINE | re.DOTALL)
    formulas = [found for page in pages for found in displayed.findall(page.read_text(encoding="utf-8"))]
    assert len(formulas) > 10
    assert all(as_mathml(formula, "block").startswith("<math") for formula in formulas)


def test_a_formula_that_is_not_read_is_an_error():
    pytest.importorskip("latex2mathml")
    parts = module("site_parts")
    assert "<mfrac>" in parts.as_mathml(r"\frac{1}{2}", "inline")
    for formula in (r"\nosuchcommand{1}", r"a &= b"):
        with pytest.raises(parts.UnreadFormulaError, match="cannot read the formula"):
            parts.as_mathml(formula, "block")


@pytest.mark.slow
def test_a_small_site(tmp_path):
    """Nothing is fetched from elsewhere; formulas are typeset, commands have a button, and each page links to its source."""
    pytest.importorskip("sphinx")
    pytest.importorskip("furo")
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    (source / "index.md").write_text(
        "# Home\n\n$$\n\\frac{a}{b} \\le \\varepsilon\n$$\n\nAbout $x_1$.\n\n```sh\ndpspec verify specs\n```\n\n"
        "```{toctree}\ncontributing\n```\n",
        encoding="utf-8",
    )
    (source / "contributing.md").write_text("# Contributing\n\nIt costs $5, or $6 with tax.\n", encoding="utf-8")
    (tmp_path / "made").mkdir()
    made = str(tmp_path / "made")
    given = {"DPSPEC_REPOSITORY": "https://example.org/dpspec", "DPSPEC_BRANCH": "main", "DPSPEC_SITE_MADE": made}
    options = ["-q", "-W", "-b", "html", "-c", str(DOCS), "-D", "exclude_patterns=api/*", str(source), str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options], capture_output=True, text=True, check=False, env={**os.environ, **given}
    )
    assert done.returncode == 0, done.stderr
    assert list(module("make_site").faults(out)) == []
    home, other = ((out / f"{name}.html").read_text(encoding="utf-8") for name in ("index", "contributing"))
    assert re.search(r'<math [^>]*display="block"><mrow><mfrac>', home)
    assert home.count("<math ") == 2
    assert "<math " not in other
    assert "copybutton.js" in home
    assert "mathjax" not in home.casefold().replace("mathjax_process", "").replace("mathjax_ignore", "")
    assert f'<span class="sidebar-brand-text">dpspec {installed_version("dpspec")}</span>' in home
    assert 'src="_static/logo.svg"' in home
    assert 'href="https://example.org/dpspec/edit/main/docs/index.md"' in home
    assert 'href="https://example.org/dpspec/edit/main/CONTRIBUTING.md"' in other


def test_progress_is_one_line_for_each_step():
    maker = module("make_site")
    stream = io.StringIO()
    shown = maker.Progress(stream)
    shown.write("\x1b[01mreading sources... \x1b[39;49;00m[ 50%] a\rreading sources... [100%] b\nbuild succeeded.\n")
    shown.write("writing out")
    shown.write("put... [ 7%] a\n")
    shown.end()
    assert [line[9:] for line in stream.getvalue().splitlines()] == ["reading sources 100 %", "writing output 7 %"]


def test_the_address_of_the_repository_is_a_web_address(monkeypatch):
    maker = module("make_site")
    for told, address in {
        "git@example.org:a/dpspec.git": "https://example.org/a/dpspec",
        "https://example.org/a/dpspec.git": "https://example.org/a/dpspec",
        "/srv/dpspec": "",
        "": "",
    }.items():
        monkeypatch.setattr(maker.subprocess, "run", lambda *_, told=told, **__: SimpleNamespace(stdout=f"{told}\n"))
        assert maker.origin() == address


def test_a_part_that_nobody_makes_is_an_error():
    parts = module("site_parts")
    with pytest.raises(parts.NoSuchPartError, match="no part glosary"):
        parts.fill(None, "glossary", ["<!-- site: glosary -->"])


def test_pip_finds_the_wheels_by_the_links_of_a_page(tmp_path):
    """The links are all that `pip install --find-links ADDRESS` needs, on a disk as on a server."""
    (tmp_path / "wheels").mkdir()
    wheel = tmp_path / "wheels" / "lonely-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("lonely-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: lonely\nVersion: 1.0\n")
        made.writestr("lonely-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
    page = tmp_path / "install.html"
    page.write_text("\n".join(module("site_parts").links([wheel])), encoding="utf-8")
    options = ["--no-index", "--disable-pip-version-check", "--dest", str(tmp_path / "got"), "--find-links", page.as_uri()]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", *options, "lonely"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, [path.name for path in (tmp_path / "got").glob("*")]) == (0, [wheel.name]), done.stderr


def test_the_page_on_installing_names_every_distribution():
    text = (DOCS / "install.md").read_text(encoding="utf-8")
    named = re.findall(r"^(dpspec[\w-]*) @ git\+\S+?(?:#subdirectory=(\S+))?$", text, re.MULTILINE)
    plugins = sorted(path.parent.name for path in (ROOT / "plugins").glob("*/pyproject.toml"))
    assert named == [("dpspec", ""), *((name, f"plugins/{name}") for name in plugins)]


def test_an_archive_has_a_folder_and_nothing_that_was_made_of_it(monkeypatch, tmp_path):
    parts = module("site_parts")
    monkeypatch.setattr(parts, "MADE", tmp_path)
    assert list(parts.archive("docs/examples/survey-project", "../")) == [
        '<a href="../survey-project.zip" download>survey-project.zip</a>'
    ]
    with zipfile.ZipFile(tmp_path / "survey-project.zip") as made:
        made.extractall(tmp_path)
    told, found = (
        {at.relative_to(home): at.read_bytes() for at in home.rglob("*") if at.is_file() and "__pycache__" not in at.parts}
        for home in (DOCS / "examples" / "survey-project", tmp_path / "survey-project")
    )
    assert told == found
    assert Path(".github/workflows/privacy.yml") in told


def test_docstrings_are_set_as_they_are_meant():
    lines = ["P_x <= e^eps * |x|, as `a_` says.", "", "    a formula", "", "Raises:", "    XError: when `b`."]
    module("site_parts").docstring_as_rst(lines)
    assert lines == [
        "P_x <= e^eps \\* \\|x\\|, as ``a_`` says.", "", "::", "", "    a formula", "", "", "Raises ``XError``: when ``b``.",
    ]  # fmt: skip


def test_every_page_is_in_the_navigation():
    """Pages of single deployments are found from their front page."""
    listed = set()
    for page in DOCS.rglob("*.md"):
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            names = [line for line in tree.splitlines() if line and not line.startswith(":")]
            listed |= {(page.parent / name).resolve() for name in names}
    pages = {page.with_suffix("") for folder in (DOCS,) for page in folder.rglob("*.md") if "examples" not in page.parts}
    single = {page for page in pages if page.parent == DOCS / "deployments" and page.name != "README"}
    single |= {page for page in pages if page.parent.parent == DOCS / "api"}  # the site's own, while it is built
    assert pages - single - listed == {DOCS / "index"}
    assert {page for page in listed if not page.with_suffix(".md").exists()} == set()


def test_the_notebooks_are_text_with_code_that_compiles():
    """They are run when the site is built; `index.md` lists them."""
    notebooks = [page for page in (DOCS / "notebooks").glob("*.md") if page.name != "index.md"]
    assert len(notebooks) >= 8
    assert list((DOCS / "notebooks").glob("*.ipynb")) == []
    for page in notebooks:
        text = page.read_text(encoding="utf-8")
        assert text.startswith("---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n")
        cells = re.findall(r"^```\{code-cell\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        assert len(cells) >= 3
        for cell in cells:
            compile(cell, str(page), "exec")
