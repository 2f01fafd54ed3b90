"""The profiles of the root conftest: what is left out of the default run, and that nothing is left out of all of them."""

import runpy
from pathlib import Path

import pytest

pytest_plugins = "pytester"

ROOT = Path(__file__).parents[2]
PROJECT = """\
import pytest

def test_quick(): pass

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.long
def test_long(): pass

@pytest.mark.spread(2)
@pytest.mark.parametrize("value", range(6))
def test_of_many(value): pass

@pytest.mark.spread(1, slow=2)
@pytest.mark.parametrize("value", range(7))
def test_of_very_many(value): pass
"""


@pytest.fixture
def project(pytester):
    """A project with the conftest of this one, and a test of each kind."""
    pytester.makeconftest((ROOT / "conftest.py").read_text(encoding="utf-8"))
    marks = "\n".join(f"    {name}: of the root" for name in ("slow", "long", "spread"))
    pytester.makefile(".ini", pytest=f"[pytest]\naddopts = -p no:cacheprovider -p no:dpspec\nmarkers =\n{marks}\n")
    pytester.makepyfile(test_kinds=PROJECT)
    return pytester


@pytest.mark.parametrize(
    ("options", "run", "left_out"),
    [
        ((), 1 + 2 + 1, 1 + 1 + 4 + 6),
        pytest.param(("--profile", "slow"), 1 + 1 + 6 + 3, 1 + 4, marks=pytest.mark.slow),
        (("--profile", "slow", "-m", "slow"), 1 + 4 + 2, 1 + 1 + 2 + 5),
        pytest.param(("--profile", "long"), 1 + 1 + 1 + 6 + 7, 0, marks=pytest.mark.slow),
    ],
)
def test_each_profile_runs_its_tests(project, options, run, left_out):
    project.runpytest_subprocess(*options).assert_outcomes(passed=run, deselected=left_out)


def test_a_test_that_does_not_end_fails_and_the_others_run(pytester):
    """Neither the code's own `except` nor Hypothesis holds on to it."""
    limited = (ROOT / "conftest.py").read_text(encoding="utf-8").replace('"fast": 600.0', '"fast": 0.3')
    pytester.makeconftest(limited)
    pytester.makefile(".ini", pytest="[pytest]\naddopts = -p no:cacheprovider -p no:dpspec")
    pytester.makepyfile(
        test_loops="""
        from hypothesis import given, strategies as st

        def test_endless():
            while True:
                try:
                    sum(range(1000))
                except Exception:
                    pass

        @given(st.booleans())
        def test_endless_example(flag):
            while flag:
                pass

        def test_other(): pass
        """
    )
    found = pytester.runpytest_subprocess()
    found.assert_outcomes(passed=1, failed=2)
    found.stdout.fnmatch_lines(["*EndlessError: more than 0.3 s of processor time: does it end?"])


@pytest.mark.slow
def test_the_default_and_the_slow_tests_are_all_but_the_long_ones_and_none_is_in_both(project):
    def items(*options):
        said = project.runpytest_subprocess("--collect-only", "-q", *options).stdout.lines
        return [line for line in said if "::" in line]

    default, slow, both = items(), items("--profile", "slow", "-m", "slow"), items("--profile", "slow")
    assert sorted(default + slow) == sorted(both)


def test_the_specifications_that_are_named_as_slow_exist():
    specs = runpy.run_path(str(ROOT / "specs" / "conftest.py"))
    named = [*specs["SLOW_FOLDERS"], *(f"{name}.dpspec.toml" for name in specs["SLOW_CLAIMS"])]
    assert [name for name in named if not (ROOT / "specs" / name).exists()] == []
