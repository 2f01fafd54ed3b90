"""What is read of the parameters of a function: which arguments are tried."""

from fractions import Fraction
from itertools import count

import pytest
from dpspec_hunt.draws import drawings
from dpspec_hunt.modules import modules_of
from dpspec_hunt.plans import plan

from dpspec.plugin import ParameterError


def read(tmp_path, text="", **texts):
    """The functions that draw of some modules, by name: one text is called m."""
    for name, content in ({"m": text} if text else texts["files"]).items():
        place = tmp_path / f"{name}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    return {one.place: one for one in drawings(modules_of(str(tmp_path)).modules)}


def facts(made):
    assert len({(fact.about, fact.is_argument) for fact in made.facts}) == len(made.facts)
    return {fact.about: fact for fact in made.facts if not fact.is_argument or fact.about not in {"epsilon", "eps"}}


# A source; then standard, numbers, neighbours, shape, call, what is asked.
# In the source, LAP is a draw of Laplace noise, GAUSS one of Gaussian noise.
CASES = [
    # --- where the standard and its numbers come from ---
    ("def f(count, epsilon, rng): return count + LAP",
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | nD"),
    ("def f(count, epsilon=0.5, *, rng): return count + LAP",
     "pure | 1/2 | add-remove | number | f(count=x[0], epsilon=0.5, rng=rng) | nD"),
    ("def f(count, eps=2, rng=None): return count + LAP",
     "pure | 2 | add-remove | number | f(count=x[0], eps=2.0, rng=rng) | nD"),
    ("def f(count, privacy_budget=1, rng=None): return count + LAP",
     "pure | 1 | add-remove | number | f(count=x[0], privacy_budget=1.0, rng=rng) | nD"),
    ("EPS = 0.25\ndef f(count, epsilon=EPS, rng=None): return count + LAP",
     "pure | 1/4 | add-remove | number | f(count=x[0], epsilon=0.25, rng=rng) | nD"),
    ("def f(count, epsilon, delta, rng): return count + GAUSS",
     "approximate | 1 1/100000 | add-remove | number | f(count=x[0], epsilon=1.0, delta=1e-05, rng=rng) | nD"),
    ("def f(count, epsilon=1, delta=0.0, rng=None): return count + LAP",
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0, delta=0.0, rng=rng) | nD"),
    ("def f(count, epsilon=1, delta=None, rng=None): return count + LAP",
     "approximate | 1 1/100000 | add-remove | number | f(count=x[0], epsilon=1.0, delta=1e-05, rng=rng) | nD"),
    ("def f(count, rho=0.125, rng=None): return count + GAUSS",
     "zCDP | 1/8 | add-remove | number | f(count=x[0], rho=0.125, rng=rng) | nD"),
    ("def f(count, mu_gdp=1, rng=None): return count + GAUSS",
     "gaussian | 1 | add-remove | number | f(count=x[0], mu_gdp=1.0, rng=rng) | nD"),
    ('def f(count, rng):\n    """0.5-DP."""\n    return count + LAP',
     "pure | 1/2 | add-remove | number | f(count=x[0], rng=rng) | nD"),
    ('def f(count, rng):\n    """(1, 1e-6)-differentially private."""\n    return count + GAUSS',
     "approximate | 1 1/1000000 | add-remove | number | f(count=x[0], rng=rng) | nD"),
    ('def f(count, rng):\n    """1/2-zCDP."""\n    return count + GAUSS',
     "zCDP | 1/2 | add-remove | number | f(count=x[0], rng=rng) | nD"),
    ('def f(count, rng):\n    """1-GDP"""\n    return count + GAUSS',
     "gaussian | 1 | add-remove | number | f(count=x[0], rng=rng) | nD"),
    ('def f(bits, rng):\n    """ln(3)-DP."""\n    return [b ^ (rng.random() < 0.25) for b in bits]',
     "pure | ln(3) | one-entry | bits | f(bits=x, rng=rng) | l"),
    ('def f(count, rng):\n    """Private with epsilon = 0.5."""\n    return count + LAP',
     "pure | 1/2 | add-remove | number | f(count=x[0], rng=rng) | nD"),
    ('def f(count, rng):\n    """Private."""\n    epsilon = 0.5\n    return count + LAP',
     "pure | 1/2 | add-remove | number | f(count=x[0], rng=rng) | nD"),
    ('def f(count, rng):\n    """Differentially private."""\n    return count + LAP',
     "pure | 1 | add-remove | number | f(count=x[0], rng=rng) | senD"),
    ('def f(count, rng):\n    """zCDP."""\n    return count + GAUSS',
     "zCDP | 1/2 | add-remove | number | f(count=x[0], rng=rng) | rnD"),
    # --- multiples of a parameter are not taken for the parameter ---
    ('def f(count, epsilon, rng):\n    """2*epsilon-DP."""\n    return count + LAP',
     "pure | 2 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | nD"),
    ('def f(count, epsilon, rng):\n    """(2 epsilon)-DP."""\n    return count + LAP',
     "pure | 2 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | nD"),
    ('def f(count, epsilon, rng):\n    """It is epsilon/2-differentially private."""\n    return count + LAP',
     "pure | 1/2 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | nD"),
    ('def f(count, epsilon, delta, rng):\n    """(epsilon / 2, delta)-DP."""\n    return count + GAUSS',
     "approximate | 1/2 1/100000 | add-remove | number | f(count=x[0], epsilon=1.0, delta=1e-05, rng=rng) | nD"),
    ('def f(count, epsilon, rng):\n    """epsilon/2-DP per record."""\n    return count + LAP',
     "pure | 1/2 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | senaD"),
    ('def f(count, epsilon, rng):\n    """k*epsilon-DP."""\n    return count + LAP',
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | enD"),
    ('def f(count, epsilon, rng):\n    """The total budget is 2 * epsilon."""\n    return count + LAP',
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | enD"),
    ('def f(count, epsilon, rng):\n    """(epsilon^2/2)-zCDP."""\n    return count + GAUSS',
     "zCDP | 1/2 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | arnD"),
    # --- what speaks of something else is a guess ---
    ('def f(count, epsilon, rng):\n    """See theorem 3 DP."""\n    return count + LAP',
     "pure | 3 | add-remove | number | f(count=x[0], epsilon=3.0, rng=rng) | senD"),
    ('def f(count, epsilon, rng):\n    """Section 2 DP."""\n    return count + LAP',
     "pure | 2 | add-remove | number | f(count=x[0], epsilon=2.0, rng=rng) | senD"),
    ('def f(count, rng):\n    """Dwork et al. have a 5-DP one."""\n    return count + LAP',
     "pure | 5 | add-remove | number | f(count=x[0], rng=rng) | senD"),
    ('def f(count, rng):\n    """0.1-DP. Another is 2-DP."""\n    return count + LAP',
     "pure | 1/10 | add-remove | number | f(count=x[0], rng=rng) | enD"),
    ('def f(count, epsilon=1.0, rng=None):\n    """0.5-DP."""\n    return count + LAP',
     "pure | 1/2 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | enaD"),
    ('def f(count, epsilon=1, delta=1e-5, rng=None):\n    """epsilon-DP."""\n    return count + LAP',
     "approximate | 1 1/100000 | add-remove | number | f(count=x[0], epsilon=1.0, delta=1e-05, rng=rng) | snD"),
    ('def f(count, epsilon, rng):\n    """epsilon-DP."""\n    return count + GAUSS',
     "approximate | 1 1/100000 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | sdnD"),
    # another definition, and a number with thousands, which was read as 0
    ('def f(count, epsilon, rng):\n    """(2, epsilon)-RDP."""\n    return count + LAP',
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | snD"),
    ('def f(count, epsilon, delta, rng):\n    """Renyi differential privacy."""\n    return count + LAP',
     "approximate | 1 1/100000 | add-remove | number | f(count=x[0], epsilon=1.0, delta=1e-05, rng=rng) | snD"),
    ('def f(count, epsilon, rng):\n    """epsilon-label-DP."""\n    return count + LAP',
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | snD"),
    ('def f(count, rng):\n    """It is 1,000-DP."""\n    return count + LAP',
     "pure | 1 | add-remove | number | f(count=x[0], rng=rng) | enD"),
    # a claim of each answer, and one that is denied or limited, were taken for claims of the function
    ('def f(count, epsilon, rng):\n    """Each answer is epsilon-DP."""\n    return count + LAP, count + LAP',
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | senD"),
    ('def f(count, epsilon, rng):\n    """Two-sided noise of theorem 3 is epsilon-DP."""\n    return count + LAP',
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | nD"),
    ('def f(count, rng):\n    """User-level 1-DP."""\n    return count + LAP',
     "pure | 1 | add-remove | number | f(count=x[0], rng=rng) | snD"),
    # --- neighbours ---
    ('def f(records, epsilon, rng):\n    """Adding or removing a record."""\n    return len(records) + LAP',
     "pure | 1 | add-remove | entries | f(records=x, epsilon=1.0, rng=rng) | v"),
    ('def f(records, epsilon, rng):\n    """Replacing one record."""\n    return len(records) + LAP',
     "pure | 1 | replace-one | entries | f(records=x, epsilon=1.0, rng=rng) | lv"),
    ("def f(records, epsilon, rng):\n"
     '    """Adding or removing, or replacing one record."""\n'
     "    return len(records) + LAP",
     "pure | 1 | replace-one | entries | f(records=x, epsilon=1.0, rng=rng) | nlv"),
    ("def f(records, epsilon, rng): return sum(records) / len(records) + LAP",
     "pure | 1 | replace-one | entries | f(records=x, epsilon=1.0, rng=rng) | nlv"),
    ('def f(count, epsilon, rng):\n    """Adding or removing one record."""\n    return count + LAP',
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | D"),
    ('def f(count, epsilon, rng, sensitivity=1):\n    """Adding or removing one record."""\n    return count + LAP',
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | "),
    ('def f(count, epsilon, sens, rng):\n    """Adding or removing one record."""\n    return count + LAP',
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0, sens=1, rng=rng) | S"),
    # --- shapes ---
    ("def f(histogram, epsilon, rng): return [h + LAP for h in histogram]",
     "pure | 1 | add-remove | counts | f(histogram=x, epsilon=1.0, rng=rng) | nlD"),
    ("def f(v, epsilon, rng): return v + rng.laplace(0, 1 / epsilon, size=len(v))",
     "pure | 1 | add-remove | counts | f(v=x, epsilon=1.0, rng=rng) | hnlD"),
    # a number that is no count may be negative or have decimals; what is done to these was not checked
    ("def f(v: float, epsilon, rng): return v + LAP",
     "pure | 1 | add-remove | number | f(v=x[0], epsilon=1.0, rng=rng) | hnD"),
    ("def f(value, epsilon, rng): return (value if value >= 0 else 5 * value) + LAP",
     "pure | 1 | add-remove | number | f(value=x[0], epsilon=1.0, rng=rng) | hnD"),
    ("def f(gradients, epsilon, rng): return [g + LAP for g in gradients]",
     "pure | 1 | add-remove | counts | f(gradients=x, epsilon=1.0, rng=rng) | hnlD"),
    ("def f(v, epsilon, rng): return v + LAP",
     "pure | 1 | add-remove | number | f(v=x[0], epsilon=1.0, rng=rng) | hnD"),
    ("def f(truth, epsilon, rng): return truth ^ (rng.random() < 0.25)",
     "pure | 1 | one-entry | bits | f(truth=x[0], epsilon=1.0, rng=rng) | nl"),
    # responses may be ratings from 1 to 5: a sum of them was checked on bits
    ('def f(responses, epsilon, rng):\n    """Sum of ratings."""\n    return sum(responses) + LAP',
     "pure | 1 | one-entry | bits | f(responses=x, epsilon=1.0, rng=rng) | hnl"),
    ('def f(responses, epsilon, rng):\n    """Number of yes; responses are 0 or 1."""\n    return sum(responses) + LAP',
     "pure | 1 | one-entry | bits | f(responses=x, epsilon=1.0, rng=rng) | nl"),
    ("def f(data, lower, upper, epsilon, rng):\n"
     "    import numpy as np\n"
     "    return np.clip(data, lower, upper).sum() + LAP",
     "pure | 1 | add-remove | entries | f(data=x, lower=0, upper=1, epsilon=1.0, rng=rng) | nLU"),
    ("def f(data, epsilon, rng): return sum(min(max(v, 0), 5) for v in data) + LAP",
     "pure | 1 | add-remove | entries | f(data=x, epsilon=1.0, rng=rng) | n"),
    ("def f(data, epsilon, rng):\n    kept = list(data)\n    return sum(map(lambda v: max(0, min(v, 5)), kept)) + LAP",
     "pure | 1 | add-remove | entries | f(data=x, epsilon=1.0, rng=rng) | n"),
    # a larger value than the least length of bincount makes its answer longer
    ("def f(data, epsilon, rng):\n    import numpy as np\n    return [c + LAP for c in np.bincount(data[:], minlength=3)]",
     "pure | 1 | add-remove | entries | f(data=x, epsilon=1.0, rng=rng) | nv"),
    # what is clipped is no entry: a budget, the sum, and the answer; a count of multiples of 50 was verified for values up to 11
    ("def f(data, epsilon, rng):\n    epsilon = min(max(epsilon, 0.1), 10)\n    return sum(v // 50 for v in data) + LAP",
     "pure | 1 | add-remove | entries | f(data=x, epsilon=1.0, rng=rng) | nv"),
    ("def f(data, epsilon, rng):\n    total = sum(data)\n    return max(0, min(total, 5)) + LAP",
     "pure | 1 | add-remove | entries | f(data=x, epsilon=1.0, rng=rng) | nv"),
    ("def f(data, epsilon, rng):\n    import numpy as np\n    return np.clip(sum(data) + LAP, 0, 5)",
     "pure | 1 | add-remove | entries | f(data=x, epsilon=1.0, rng=rng) | nv"),
    # values that are not clipped as well: leaks of values above 10, and of values around 50, were verified for values up to 2
    ("def f(data, epsilon, rng):\n    import numpy as np\n"
     "    return np.clip(data, 0, 1).sum() + sum(9 for v in data if v > 10) + LAP",
     "pure | 1 | add-remove | entries | f(data=x, epsilon=1.0, rng=rng) | nv"),
    ("def f(data, epsilon, rng): return sum(min(max(v, 0), 1) + max(v - 5, 0) for v in data) + LAP",
     "pure | 1 | add-remove | entries | f(data=x, epsilon=1.0, rng=rng) | nv"),
    ("def f(data, epsilon, rng):\n    import numpy as np\n"
     "    return np.clip(data, 0, 1).sum() + np.clip(np.array(data) - 50, 0, 1).sum() + LAP",
     "pure | 1 | add-remove | entries | f(data=x, epsilon=1.0, rng=rng) | nv"),
    ("def f(data, epsilon, rng):\n    last = total = 0\n    for v in data:\n        total += last // 50\n"
     "        last = v\n        total += min(max(v, 0), 1)\n    return total + LAP",
     "pure | 1 | add-remove | entries | f(data=x, epsilon=1.0, rng=rng) | nv"),
    ("def f(data, epsilon, rng):\n    import numpy as np\n    some = np.clip(data, 0, 1)\n"
     "    return sum(9 for v in some if v == 0.25) + LAP",
     "pure | 1 | add-remove | entries | f(data=x, epsilon=1.0, rng=rng) | nv"),
    # only the clipped values, and how many there are
    ("def f(data, epsilon, rng):\n    import numpy as np\n    data = np.asarray(data, dtype=float)\n    if data.size == 0:\n"
     "        return LAP\n    data = np.clip(data, 0, 1)\n    return data.sum() + len(data) + LAP",
     "pure | 1 | add-remove | entries | f(data=x, epsilon=1.0, rng=rng) | n"),
    ("def f(data, epsilon, rng):\n    total = 0.0\n    for v in data:\n        v = min(max(float(v), 0), 5)\n"
     "        total += v\n    return total + LAP",
     "pure | 1 | add-remove | entries | f(data=x, epsilon=1.0, rng=rng) | n"),
    # --- how it is called ---
    ("class M:\n"
     "    def __init__(self, epsilon=0.5): self.epsilon = epsilon\n"
     "    def release(self, count, rng): return count + LAP",
     "pure | 1/2 | add-remove | number | M(epsilon=0.5).release(count=x[0], rng=rng) | nD"),
    ("class M:\n    @staticmethod\n    def release(count, epsilon, rng): return count + LAP",
     "pure | 1 | add-remove | number | M.release(count=x[0], epsilon=1.0, rng=rng) | nD"),
    ("class M:\n    @classmethod\n    def release(cls, count, epsilon, rng): return count + LAP",
     "pure | 1 | add-remove | number | M.release(count=x[0], epsilon=1.0, rng=rng) | nD"),
    ("class A:\n    class M:\n        @staticmethod\n        def release(count, epsilon, rng): return count + LAP",
     "pure | 1 | add-remove | number | A.M.release(count=x[0], epsilon=1.0, rng=rng) | nD"),
    ('class M:\n    """Is 0.5-DP."""\n    def release(self, count, rng): return count + LAP',
     "pure | 1/2 | add-remove | number | M().release(count=x[0], rng=rng) | nD"),
    ("def f(count, epsilon, /, rng): return count + LAP",
     "pure | 1 | add-remove | number | f(x[0], 1.0, rng=rng) | nD"),
    ("from numpy.random import laplace as lap\ndef f(count, epsilon): return count + lap(0, 1 / epsilon)",
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0) | nD"),
    ("import numpy.random as nr\ndef f(count, epsilon): return count + nr.default_rng().laplace(0, 1 / epsilon)",
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0) | nD"),
    ("f = lambda count, epsilon, rng: count + LAP",
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | nD"),
    ("def f(count, epsilon, rng):\n    def inner(): return LAP\n    return count + inner()",
     "pure | 1 | add-remove | number | f(count=x[0], epsilon=1.0, rng=rng) | nD"),
    ("# It is 0.5-DP.\ndef f(count, rng): return count + LAP",
     "pure | 1/2 | add-remove | number | f(count=x[0], rng=rng) | nD"),
]  # fmt: skip
LETTERS = {
    "s": "standard", "e": "epsilon", "d": "delta", "r": "rho", "n": "neighbours", "h": "shape", "v": "values", "l": "length",
    "D": "distance", "S": "argument sens", "L": "argument lower", "U": "argument upper", "a": "argument epsilon",
}  # fmt: skip
BUDGETS = {"pure": ["epsilon"], "approximate": ["epsilon", "delta"], "zCDP": ["rho"], "gaussian": ["mu"]}


@pytest.mark.parametrize("case", CASES, ids=[f"{number}" for number, _ in zip(count(), CASES, strict=False)])
def test_what_is_inferred(tmp_path, case):
    source, expected = case
    standard, numbers, neighbours, shape, call, asks = (part.strip() for part in expected.split("|"))
    has_epsilon = "epsilon" in source.partition("(")[2].partition(")")[0]
    laplace = "rng.laplace(0, 1 / epsilon)" if has_epsilon else "rng.laplace(0, 2)"
    source = source.replace("LAP", laplace).replace("GAUSS", "rng.normal(0, 4)")
    [drawing] = read(tmp_path, source).values()
    made = plan(drawing)
    assert made.reason == ""
    found = facts(made)
    assert found["standard"].value == standard
    claimed = [str(found[name].value) for name in BUDGETS[standard]]
    expected = numbers.split()
    assert [value(text) for text in claimed] == [value(text) for text in expected]
    assert (found["neighbours"].value, found["shape"].value, made.call) == (neighbours, shape, call)
    assert {guess.subject for guess in made.guesses} == {LETTERS[letter] for letter in asks}


def value(text):
    try:
        return Fraction(text)
    except ValueError:
        return text


@pytest.mark.parametrize(("source", "reason"), [
    ("def f(count, rng): return count + rng.laplace(0, 1)", "draws, and claims nothing"),
    ("def f(rng, epsilon): return rng.laplace(0, 1 / epsilon)", "takes no dataset"),
    ("def f(count, epsilon, rng): print(count + rng.laplace(0, 1 / epsilon))", "returns nothing"),
    ("def f(count, epsilon, rng):\n    def g(): return rng.laplace(0, 1)\n    count += g()", "returns nothing"),
    ("async def f(count, epsilon, rng): return count + rng.laplace(0, 1)", "is asynchronous"),
    ("def f(count, epsilon, rng): yield count + rng.laplace(0, 1)", "is a generator"),
    ("class A:\n    def __init__(self, count, epsilon, rng): self.c = count + rng.laplace(0, 1)", "makes an object"),
    ("def f(count, epsilon, tuning, rng): return count + rng.laplace(0, 1)", "needs a value for tuning"),
    ("def f(data, epsilon, rng): return data['age'].sum() + rng.laplace(0, 1)", "reads a data frame"),
])  # fmt: skip
def test_what_is_not_checked(tmp_path, source, reason):
    [drawing] = read(tmp_path, source).values()
    made = plan(drawing)
    assert made.spec is None
    assert made.reason.startswith(reason)


def test_what_makes_an_object_may_be_inherited(tmp_path):
    [drawing] = read(tmp_path, """
class Base:
    def __init__(self, epsilon=0.5, sensitivity=1): pass
class Middle(Base): pass
class Last(Middle):
    def release(self, value, rng): return value + rng.laplace(0, 1)
""").values()  # fmt: skip
    assert plan(drawing).call == "Last(epsilon=0.5).release(value=x[0], rng=rng)"


def test_loops_inside_each_other_end(tmp_path):
    """Each loop of a function doubles the work, so few are followed."""
    loops = "".join("    " * k + f"for v{k} in data:\n" for k in range(1, 31))
    last = "    " * 31 + "total += min(max(v30, 0), 1)\n"
    source = f"def f(data, epsilon, rng):\n    total = 0\n{loops}{last}    return total + rng.laplace(0, 1 / epsilon)\n"
    [drawing] = read(tmp_path, source).values()
    assert facts(plan(drawing))["values"].is_guess


@pytest.mark.parametrize(("answers", "message"), [
    ({"epsilom": 1}, "epsilom is no answer"),
    ({"epsilon": "many"}, "epsilon is no number"),
    ({"epsilon": True}, "epsilon is no number"),
    ({"standard": "strong"}, "standard is none of"),
    ({"neighbours": "near"}, "neighbours is none of"),
    ({"shape": ["counts"]}, "shape is none of"),
    ({"data": "y"}, "data names no parameter"),
    ({"arguments": 3}, "arguments is no table"),
    ({"arguments": {"tau": 1}}, "arguments names no parameter"),
    ({"shape": "counts", "length": 0}, "length is no whole number"),
    ({"shape": "entries", "values": 3}, "values is no list"),
])  # fmt: skip
def test_answers_that_make_no_sense(tmp_path, answers, message):
    [drawing] = read(tmp_path, "def f(count, epsilon, rng): return count + rng.laplace(0, 1 / epsilon)").values()
    with pytest.raises(ParameterError, match=message):
        plan(drawing, answers)
