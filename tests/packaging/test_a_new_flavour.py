"""A flavour that this repository does not know, from a separate distribution: its own space, distance and file (B-D30)."""

import json

import pytest

pytestmark = pytest.mark.long

PLUGIN = '''
"""Privacy of playlists: datasets are orders of songs, and a step exchanges two neighbours."""

from itertools import combinations, permutations
from typing import Annotated, ClassVar

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.space import DatasetSpace
from dpspec.base.errors import NotInSpaceError
from dpspec.base.exact import number
from dpspec.extension import hookimpl, installed
from dpspec.grammar.mechanism import Example, Flavour
from dpspec.base.params import Integer, define
from dpspec.grammar.spec import PrivacySpec

DPSPEC_API = 1


@define
class Orders(DatasetSpace):
    """All orders of the songs 0, ..., songs - 1.

    Args:
        songs: how many there are.
    """

    name: ClassVar[str] = "orders"
    is_ordered: ClassVar[bool] = True

    songs: Annotated[int, Integer(1)]

    @property
    def units(self):
        return ("song",)

    def dataset(self, value):
        if not isinstance(value, (list, tuple)) or sorted(map(repr, value)) != sorted(map(repr, range(self.songs))):
            raise NotInSpaceError(self.name, f"must be an order of 0 to {self.songs - 1}", value=value)
        return tuple(value)

    def datasets(self):
        return permutations(range(self.songs))

    def cardinality(self):
        return len(list(self.datasets()))

    def magnitude(self, dataset):
        return len(dataset)

    def records(self, dataset, unit):
        return tuple((str(song),) for song in dataset)

    @classmethod
    def examples(cls):
        yield cls(songs=3)


@define
class Inversions(InputDivergence):
    """The number of pairs of songs that the two orders put differently (Kendall's tau distance)."""

    name: ClassVar[str] = "inversions"

    def distance(self, left, right, space):
        place = {song: at for at, song in enumerate(right)}
        return number(sum(place[a] > place[b] for a, b in combinations(left, 2)))

    def check(self, space):
        if not isinstance(space, Orders):
            from dpspec.base.errors import IncompatibleBlocksError
            raise IncompatibleBlocksError("input divergence inversions", "compares orders", value=space.name)


class PlaylistPrivacy(Flavour):
    """Orders of songs, protected up to exchanges of neighbours."""

    name: ClassVar[str] = "playlist-dp"
    title: ClassVar[str] = "Privacy of the order of a playlist"
    citation: ClassVar[str] = "this test"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self):
        return PrivacySpec(
            space=Orders(songs=3), multiverse=Trivial(), input_divergence=Inversions(),
            output_divergence=installed().registry.get("output_divergences", "mult")(),
            budget=UniformBudget(parameter="epsilon", value="ln(2)"),
        )

    def satisfied_by(self):
        return self._mallows("ln(2)", "its normaliser is the same for every order")

    def broken_by(self):
        return self._mallows("ln(3)", "the likelihood ratio of one exchange is 3")

    def _mallows(self, rate, because):
        mechanism = installed().registry.get("mechanisms", "nearby-dataset")(distance=Inversions(), rate=rate)
        return Example(title=f"Mallows model at rate {rate}", mechanism=mechanism, because=because)


@hookimpl
def dpspec_register_spaces(register):
    register(Orders)


@hookimpl
def dpspec_register_input_divergences(register):
    register(Inversions)


@hookimpl
def dpspec_register_flavours(register):
    register(PlaylistPrivacy)
'''

WRITE = """
from dpspec.extension import installed
from dpspec.specfile.document import flavour_document
from dpspec.specfile.writer import to_toml
registry = installed().registry
print(to_toml(flavour_document(registry.get("flavours", "playlist-dp")()), registry))
"""


@pytest.fixture
def playlists(third_party, clean):
    third_party("dpspec-playlists", "playlists", PLUGIN)
    return clean


def test_it_stands_in_the_family(playlists):
    done = playlists.run("dpspec", "explain", "flavours", "--format", "json")
    found = {flavour["name"]: flavour for flavour in json.loads(done.out)["family"]["flavours"]}
    assert found["playlist-dp"]["distribution"] == "dpspec-playlists"
    assert "pure-dp" in found


def test_its_file_is_verified_and_its_counterexample_refuted(playlists):
    path = playlists.work / "playlist-dp.dpspec.toml"
    path.write_text(playlists.run("python", "-c", WRITE).out, encoding="utf-8")
    done = playlists.run("dpspec", "verify", str(path), "--format", "json")
    (file,) = json.loads(done.out)["files"]
    good, bad = file["obligations"]
    assert done.code == 0, done.err
    assert (good["verdict"]["outcome"], bad["verdict"]["outcome"]) == ("verified", "refuted")
    assert good["verdict"]["constant"]["lower"] == "ln(2)"


def test_it_conforms(playlists):
    done = playlists.run("dpspec", "check-plugin", "playlists")
    assert done.code == 0, done.out
