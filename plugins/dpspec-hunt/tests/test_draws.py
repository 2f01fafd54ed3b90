"""Which functions draw, as their code says."""


from dpspec_hunt.draws import drawings
from dpspec_hunt.modules import modules_of


def read(tmp_path, text="", **texts):
    """The functions that draw of some modules, by name: one text is called m."""
    for name, content in ({"m": text} if text else texts["files"]).items():
        place = tmp_path / f"{name}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    return {one.place: one for one in drawings(modules_of(str(tmp_path)).modules)}


def test_what_is_found_through_other_functions(tmp_path):
    found = read(
        tmp_path,
        files={"pkg/__init__": "", "pkg/noise": """
import numpy as np
from functools import partial
generator = np.random.default_rng()

class Base:
    def noise(self): return generator.laplace(0, 1)
    def quiet(self): return 0

def lap(scale): return generator.laplace(0, scale)
def not_a_draw(generator_of_power): return generator_of_power.laplace_matrix()
quick = partial(lap, 2)
if np:
    def twice(value, epsilon): return value + np.random.laplace(0, 1 / epsilon)
else:
    def twice(value, epsilon): return value
try:
    import secrets
    def token(bits): return secrets.randbelow(2)
except ImportError:
    def token(bits): return 0
""", "pkg/use": """
from .noise import lap as draw, Base
from . import noise as n
import pkg.noise
from pkg.noise import *

class Child(Base):
    def add(self, value): return value + self.noise()
    def overridden(self, value): return super().noise() + value
    def same(self, value): return value + self.quiet()
    @property
    def level(self): return self.noise()

def one(value): return value + draw(1)
def two(value): return value + n.lap(1)
def three(value): return value + pkg.noise.lap(1)
def four(value): return one(two(value))
def five(value): return map(one, value)
def six(value): return Child().add(value)
def loop(value): return loop(value)
def none(value): return value + 1
async def later(value): return one(value)
def many(value): yield one(value)
"""},
    )  # fmt: skip
    names = {place.partition(":")[2]: place.partition(":")[0] for place in found}
    assert names == {
        "Base.noise": "pkg.noise", "lap": "pkg.noise", "twice": "pkg.noise", "token": "pkg.noise",
        **dict.fromkeys(
            ["Child.add", "Child.overridden", "Child.level", "one", "two", "three", "four", "five", "six", "later", "many"],
            "pkg.use",
        ),
    }  # fmt: skip
    assert [draw.through for draw in found["pkg.use:four"].draws] == [True, True]


def test_neither_decorators_nor_calls_of_the_code_itself_are_draws(tmp_path):
    """A library of this field whose own code is read draws where its code does."""
    helper = "def helper(x): return x"
    found = read(tmp_path, files={"diffprivlib/__init__": "", "diffprivlib/mechanisms": helper, "diffprivlib/use": """
import random
from diffprivlib.mechanisms import helper
from opendp.prelude import space_of, then_laplace
def calls(value): return helper(value)
@random.choice([staticmethod])
def decorated(value): return value
def opens(value): return space_of(value)
def draws(value): return value >> then_laplace(1.0)
"""})  # fmt: skip
    assert list(found) == ["diffprivlib.use:draws"]


def test_modules_of_one_name_are_kept_apart(tmp_path):
    text = "def f(count, epsilon, rng): return count + rng.laplace(0, 1 / epsilon)\n"
    found = read(tmp_path, files={"a/utils": text, "b/utils": text + "def g(count): return f(count, 1, None)\n"})
    assert list(found) == ["a/utils.py:f", "b/utils.py:f", "b/utils.py:g"]
