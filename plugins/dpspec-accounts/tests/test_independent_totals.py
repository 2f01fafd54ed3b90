"""Totals of random accounts against composition computed here, from pairs of laws: never below it, and equal where it is tight.

A charge stands for a mechanism whose two laws are the worst that its promise allows: randomised response for pure promises
(Kairouz, Oh and Viswanath 2015), with delta two further outputs, and two Gaussian laws at distance mu for the others. What many
charges spend is then computed from the products of these laws, in floats, by code that shares nothing with dpspec.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from dpspec_accounts.account import Account
from dpspec_accounts.errors import AccountError

import dpspec as dp

PEOPLE = dp.records(region=["north", "south"])
EPSILONS = ["1/10", "1/4", "1/3", "1/2", "1", "3/2", "2"]
RHOS = ["1/200", "1/50", "1/10", "1/8", "1/2"]
MUS = ["1/10", "1/4", "1/2", "1"]
DELTAS = ["1e-6", "1/10000", "1/1000"]
ORDERS = [1 + 2.0**k for k in range(-20, 6)]
CAP = "100000"


def blocks(standard, distance="add-remove", **budget):
    return dp.spec(space=PEOPLE, distance=distance, standard=standard, **budget)


def renyi(epsilon, order):
    """The divergence of order `order` between randomised response with odds e^epsilon and its mirror image."""
    p = 1 / (1 + math.exp(-epsilon))
    return math.log(p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order)) / (order - 1)


def random_charges(source, kinds, most):
    """Up to so many charges: their kind, the numbers of their budget, and how many changes of theirs one of the account is."""
    choices = {"pure": EPSILONS, "zero-concentrated": RHOS, "gaussian": MUS}
    return [
        (kind, source.choice(choices[kind]), source.choice([1, 2])) for kind in source.choices(kinds, k=source.randint(1, most))
    ]  # fmt: skip


PARAMETERS = {"pure": "epsilon", "zero-concentrated": "rho", "gaussian": "mu"}


def total_of_account(tmp_path, name, standard, cap, charges):
    account = Account.create(tmp_path / f"{name}.db", blocks(standard, "hamming", **cap), as_promised=True)
    for kind, value, changes in charges:
        distance = "hamming" if changes == 1 else "symmetric-difference"
        account.charge(blocks(kind, distance, **{PARAMETERS[kind]: value}))
    return float(account.balance().total.value.enclose())


def number_of(value):
    return float(Fraction(value))


def concentrated_truth(charges):
    """The largest D_a / a of the product over orders a: of a Gaussian at distance mu it is mu^2 / 2 at every order."""
    flat = sum(
        changes**2 * (number_of(value) if kind == "zero-concentrated" else number_of(value) ** 2 / 2)
        for kind, value, changes in charges
        if kind != "pure"
    )
    pure = [changes * number_of(value) for kind, value, changes in charges if kind == "pure"]
    return flat + max(sum(renyi(epsilon, order) for epsilon in pure) / order for order in ORDERS)


TRUTHS = {
    "pure": (["pure"], {"epsilon": CAP}, lambda charges: sum(c * number_of(v) for _, v, c in charges)),
    "zero-concentrated": (["pure", "zero-concentrated"], {"rho": CAP}, concentrated_truth),
    "gaussian": (["gaussian"], {"mu": CAP}, lambda charges: math.sqrt(sum((c * number_of(v)) ** 2 for _, v, c in charges))),
}
MANY = [
    pytest.param(4, id="few"),
    pytest.param(10, marks=pytest.mark.long, id="more"),
    pytest.param(300, marks=pytest.mark.long, id="many"),
]


@pytest.mark.parametrize("accounts", MANY)
@pytest.mark.parametrize("standard", TRUTHS)
def test_totals_are_those_of_the_worst_laws(tmp_path, standard, accounts):
    """Within 1 % of them: the constant of randomised response in rho is that of its limit order."""
    kinds, cap, truth = TRUTHS[standard]
    source = random.Random(f"{standard} {accounts}")
    for place in range(accounts):
        charges = random_charges(source, kinds, 100 if place % 4 == 0 else 8)
        found, true = total_of_account(tmp_path, place, standard, cap, charges), truth(charges)
        assert true * (1 - 1e-9) <= found <= true * 1.01


def worst_of(epsilon, delta):
    """The two laws of four outputs that are the worst for (epsilon, delta), as (probability, probability)."""
    p = (1 - delta) / (1 + math.exp(-epsilon))
    return [(p, 1 - delta - p), (1 - delta - p, p), (delta, 0.0), (0.0, delta)]


def hockey_stick(pairs, epsilon):
    """Of the product of the laws: outputs with the same ratio are one output."""
    by_loss = {0.0: 1.0}
    beyond = 0.0
    for pair in pairs:
        following: dict[float, float] = {}
        lost = sum(p for p, q in pair if q == 0)
        for loss, mass in by_loss.items():
            for p, q in pair:
                if p and q:
                    key = round(loss + math.log(p / q), 12)
                    following[key] = following.get(key, 0.0) + mass * p
        beyond += sum(by_loss.values()) * lost
        by_loss = following
    return beyond + sum(mass * max(0.0, 1 - math.exp(epsilon - loss)) for loss, mass in by_loss.items())


@pytest.mark.parametrize("accounts", MANY)
def test_what_is_composed_is_within_epsilon_and_delta_of_the_account(tmp_path, accounts):
    """The product of the worst laws of up to 100 promises has at most the delta of the total at its epsilon."""
    source = random.Random(accounts)
    cap = blocks("approximate", epsilon=CAP, delta="99/100")
    for place in range(accounts):
        charges = [
            (source.choice(EPSILONS), source.choice(DELTAS)) for _ in range(source.randint(1, 100 if place % 4 == 0 else 8))
        ]
        account = Account.create(tmp_path / f"{place}.db", cap, as_promised=True)
        for epsilon, delta in charges:
            account.charge(blocks("approximate", epsilon=epsilon, delta=delta))
        total = account.balance().total
        epsilon, delta = float(total.value.enclose()), float(total.standard.delta)
        true = hockey_stick([worst_of(number_of(e), number_of(d)) for e, d in charges], epsilon)
        assert true <= delta * (1 + 1e-9)
        assert epsilon == pytest.approx(sum(number_of(e) for e, _ in charges), rel=1e-12)
        if len(charges) == 1:
            assert true == pytest.approx(delta, rel=1e-9)  # one promise is attained


@pytest.mark.parametrize("adversaries", MANY)
def test_an_adversary_who_chooses_by_what_came_out_stays_within_the_cap(tmp_path, adversaries):
    """Randomised responses, each chosen by the answers so far, until nothing fits: the largest ratio of the two probabilities of
    all answers together, over all leaves of the tree of answers."""
    for place in range(adversaries):
        seed, cap = f"{adversaries} {place}", random.Random(place).choice(["1", "3/2", "2"])
        largest = largest_ratio(tmp_path, seed, cap, answers=(), ratio=Fraction(1))
        assert math.log(largest) <= number_of(cap) + 1e-9


ODDS = {"ln(2)": 2, "ln(3)": 3, "ln(3/2)": Fraction(3, 2)}
MOST_ANSWERS = 4


def largest_ratio(tmp_path, seed, cap, answers, ratio):
    """Replay the account for these answers, let the adversary choose the next question by them, and go down both branches."""
    name = "".join(map(str, answers)) or "root"
    account = Account.create(tmp_path / f"{seed} {name}.db", blocks("pure", epsilon=cap), as_promised=True)
    for place in range(len(answers)):
        account.charge(blocks("pure", epsilon=choice(seed, answers[:place])))
    if len(answers) == MOST_ANSWERS:
        return ratio
    asked = choice(seed, answers)
    try:
        account.charge(blocks("pure", epsilon=asked))
    except AccountError:
        raise
    except dp.DpspecError:
        return ratio  # over the cap: nothing is drawn
    odds = Fraction(ODDS[asked])
    factors = {1: odds, 0: 1 / odds}
    return max(largest_ratio(tmp_path, seed, cap, (*answers, answer), ratio * factor) for answer, factor in factors.items())


def choice(seed, answers):
    """The adversary: which question follows these answers."""
    return random.Random(f"{seed} {answers}").choice(sorted(ODDS))
