"""The distribution and version behind every block, for objects made in Python as for those read from files."""

from importlib.metadata import version

from dpspec_divergences import DifferInOnePosition, Neighbour, UserMetric
from dpspec_flavours.standards import PureDP

from dpspec import installed
from dpspec.base.exact import ln
from dpspec.blocks.budget import BudgetTable
from dpspec.extension import LOCAL, load_plugins
from dpspec.extension.loader import origins
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import blocks_of
from dpspec.specfile import read_text, to_toml
from dpspec.specfile.document import flavour_document
from dpspec.verifier.entry import verify_claim

SPEC, RESPONSE = PureDP().spec(), PureDP().satisfied_by().mechanism
NOISE = ("dpspec-noise", version("dpspec-noise"))


class Strange(Mechanism):
    """Local code around a first-party mechanism."""

    name = "strange"

    def law(self, dataset, space):
        return RESPONSE.law(dataset, space)


def by_role(verdict):
    return {role: (origin.distribution, origin.version) for role, _, origin in verdict.provenance}


def test_blocks_made_in_python_say_their_distribution():
    found = by_role(verify_claim(RESPONSE, SPEC))
    assert found["mechanism"] == NOISE
    assert found["output_divergence"] == ("dpspec-divergences", version("dpspec-divergences"))
    assert found["space"] == found["multiverse"] == found["budget"] == ("dpspec", version("dpspec"))


def test_python_and_file_agree():
    """Every flavour, made by its class and read from its file: the same origins, none of them local code."""
    registry, wrong = installed().registry, []
    for flavour in (cls() for cls in registry.classes("flavours")):
        document = read_text(to_toml(flavour_document(flavour), registry), registry)
        made = origins({"mechanism": flavour.satisfied_by().mechanism, **blocks_of(flavour.spec())})
        read = origins({"mechanism": document.mechanism, **blocks_of(document.spec)}, registry)
        if document.mechanism is None or made != read or not all(o.distribution.startswith("dpspec") for _, _, o in made):
            wrong.append(flavour.name)
    assert wrong == []


def test_local_code_stays_local_code():
    found = verify_claim(Strange(), SPEC)
    assert by_role(found)["mechanism"] == (LOCAL.distribution, LOCAL.version)
    sampled = verify_claim(lambda bits, rng: [b ^ int(rng.random() < 0.25) for b in bits], SPEC)
    assert by_role(sampled).get("mechanism", (LOCAL.distribution, LOCAL.version)) == (LOCAL.distribution, LOCAL.version)


def test_a_wrapper_of_ours_around_a_function_of_theirs_is_local_code():
    """`UserMetric` comes with a distribution, and what it computes does not."""
    mine = UserMetric(function=lambda x, y: 0 if x == y else 1, label="mine")
    assert by_role(verify_claim(RESPONSE, SPEC.replace(input_divergence=mine)))["input_divergence"] == (
        LOCAL.distribution,
        LOCAL.version,
    )


def test_blocks_inside_blocks_are_told():
    near = Neighbour(relation=DifferInOnePosition())
    found = by_role(verify_claim(RESPONSE, SPEC.replace(input_divergence=near)))
    assert found["input_divergence.relation"] == found["input_divergence"]


def test_a_table_of_budgets_comes_with_the_core():
    """No plugin registers it, since a file writes it by universe; its package says where it is from."""
    table = BudgetTable(parameter="epsilon", values=((("all",), ln(3)),))
    ((_, _, origin),) = origins({"budget": table})
    assert (origin.distribution, origin.version) == ("dpspec", version("dpspec"))


def test_a_registry_that_does_not_know_a_plugin_calls_it_local():
    bare = load_plugins(names=[]).registry
    found = verify_claim(RESPONSE, SPEC, registry=bare)
    assert by_role(found)["mechanism"] == (LOCAL.distribution, LOCAL.version)
    assert by_role(found)["space"] == ("dpspec", version("dpspec"))
