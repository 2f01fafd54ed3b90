"""How Sphinx builds the site of docs/; `python docs/make_site.py` calls it. What is generated comes from site_parts.py."""

import logging
import os
import sys
from functools import partial
from importlib.metadata import version as installed_version
from pathlib import Path

from myst_nb.core.execute import direct
from traitlets.config import Config

sys.path.insert(0, str(Path(__file__).parent))
import site_api
import site_parts

project = "dpspec"
author = "the dpspec developers"
version = release = installed_version("dpspec")
html_title = f"dpspec {release}"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["examples", "reproduce"]
root_doc = "index"

# Pages are Markdown as GitHub shows it: headings are link targets, and notebooks are the pages with a kernel in their head.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_dmath_allow_space = False
myst_dmath_allow_digits = False
myst_update_mathjax = False
nb_execution_mode = os.environ.get("DPSPEC_SITE_NOTEBOOKS", "force")
if nb_execution_mode == "off":
    suppress_warnings = ["myst-nb.lexer"]  # a notebook that was not run does not say its language
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # by the clock, whatever else the machine does
nb_execution_show_tb = True
nb_merge_streams = True

logging.getLogger("traitlets").setLevel(logging.WARNING)

# What a notebook and its kernel say to each other goes over a port of this machine: encrypted, which MyST-NB has no setting for.
KERNELS = Config(KernelManager={"transport_encryption": "auto"})
direct.single_nb_execution = partial(direct.single_nb_execution, config=KERNELS)

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 90
add_module_names = False
napoleon_use_rtype = False

# Nothing is fetched from elsewhere: the theme has no web fonts, and the search reads an index that lies beside the pages.
html_theme = "furo"
html_logo = "static/logo.svg"
html_favicon = "static/logo.svg"
# Formulas are MathML, written when the site is built; the style has the font.
html_math_renderer = "mathml"
# Commands and programs can be copied, without the prompt; output cannot.
COPIED = ("sh", "console", "python", "ipython3", "toml", "yaml")
copybutton_selector = ", ".join(f"div.highlight-{language} pre" for language in COPIED)
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = [str(site_parts.MADE)]
# Links to edit a page lead to the repository that DPSPEC_REPOSITORY names; without one, each page has a copy of its source.
dpspec_repository = os.environ.get("DPSPEC_REPOSITORY", "")
dpspec_branch = os.environ.get("DPSPEC_BRANCH", "main")
html_show_sourcelink = html_copy_source = not dpspec_repository
html_show_copyright = False
html_show_search_summary = False
html_last_updated_fmt = None
templates_path: list[str] = []


def setup(app):
    app.add_config_value("dpspec_repository", "", "html")
    app.add_config_value("dpspec_branch", "main", "html")
    app.add_html_math_renderer(
        "mathml", inline_renderers=(site_parts.inline_formula, None), block_renderers=(site_parts.displayed_formula, None)
    )
    app.connect("builder-inited", site_api.write_pages)
    app.connect("html-page-context", site_parts.edit_link)
    app.connect("source-read", site_parts.fill)
    app.connect("doctree-read", site_parts.own_nodes)
    app.connect("autodoc-process-docstring", site_parts.docstring_as_rst, priority=1)
    app.connect("html-page-context", site_parts.same_sidebar, priority=100)
    app.connect("build-finished", site_parts.write_notebooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
