"""Code that draws from the generators of modules, in a module where their state is set somewhere: never verified."""

from __future__ import annotations

import random
import sys
from importlib import import_module

import numpy as np
import pytest
from dpspec_adapters.seeds import place_of_seed

import dpspec as dp
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import Outcome

CLAIM = dp.spec(space=dp.value_lists(values=[0, 1, 2]), distance="add-remove", standard="pure", epsilon=1)


def seeded(x):
    np.random.seed(0)
    return len(x) + np.random.laplace()


def seeded_by_the_data(x):
    random.seed(len(x))
    return len(x) + random.expovariate(1) - random.expovariate(1)


def put_back(x):
    state = random.getstate()
    first = random.expovariate(1)
    random.setstate(state)
    return len(x) + first - random.expovariate(1)


@pytest.mark.slow
@pytest.mark.parametrize("function", [seeded, seeded_by_the_data, put_back])
def test_a_state_that_the_function_sets(function):
    assert verify_claim(function, CLAIM, draws=2_000, seconds=600).outcome is not Outcome.VERIFIED


IMPORTED = "import numpy as np\n\n\ndef release(x):\n    return len(x) + np.random.laplace()\n"
SEEDED = [
    "import numpy as np\nnp.random.seed(42)\n",
    "import random\nimport numpy as np\nrandom.seed(1)\n",
    "from numpy.random import seed\nseed(42)\n",
    "import numpy as np\nfixed = np.random.seed\nfixed(42)\n",
    "import numpy as np\n\n\ndef main():\n    np.random.seed(42)\n",
    "import numpy as np\nnp.random.set_state(np.random.RandomState(1).get_state())\n",
    "import numpy as np\nif True:\n    np.random.seed(42)\n",
]


def made(folder, name, text, monkeypatch):
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    return import_module(name)


@pytest.mark.parametrize("number", range(len(SEEDED)))
def test_a_seed_anywhere_in_the_module_is_found(number, tmp_path, monkeypatch):
    """Before, a module that seeds when it is imported was verified, although its release is the true count and a constant."""
    module = made(tmp_path, f"seeded_{number}", SEEDED[number] + IMPORTED, monkeypatch)
    assert f"seeded_{number}, line " in str(place_of_seed(module.release))


def test_a_seed_in_a_module_that_it_imports_is_found(tmp_path, monkeypatch):
    made(tmp_path, "sets_a_seed", SEEDED[0], monkeypatch)
    made(tmp_path, "passes_on", "import sets_a_seed\n", monkeypatch)
    module = made(tmp_path, "looks_innocent", f"from passes_on import sets_a_seed\n{IMPORTED}", monkeypatch)
    assert place_of_seed(module.release) == "sets_a_seed, line 2,"
    assert verify_claim(module.release, CLAIM, draws=2_000, seconds=600).outcome is not Outcome.VERIFIED


def test_a_module_without_text_or_without_a_seed(tmp_path, monkeypatch):
    module = made(tmp_path, "without_a_seed", IMPORTED, monkeypatch)
    assert place_of_seed(module.release) is None
    (tmp_path / "without_a_seed.py").unlink()
    module.__file__ = module.__spec__.origin = str(tmp_path / "gone.py")
    assert "cannot be read" in str(place_of_seed(module.release))
    monkeypatch.delitem(sys.modules, "without_a_seed")
    assert place_of_seed(module.release) == "a module that is not imported"
