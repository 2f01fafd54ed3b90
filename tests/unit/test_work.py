"""Counted work: what ends a search is neither swallowed inside it, nor does it depend on what was computed before."""

import pytest

from dpspec.base.errors import DpspecError, WorkLimitError
from dpspec.base.memo import memoize
from dpspec.base.work import current_search, limited, spend, spent, whole


def test_units_are_counted() -> None:
    before = spent()
    spend(5)
    assert spent() - before == 5


@pytest.mark.parametrize("most", [0, 4, 9])
def test_a_search_ends_when_its_units_are_spent(most: int) -> None:
    done = []
    with pytest.raises(WorkLimitError, match="exceeds its limit of work"), limited(most):
        for _ in range(10):
            spend(1)
            done.append(1)
    assert len(done) == most


def test_code_inside_a_search_does_not_go_on_without_the_limit() -> None:
    """An engine that goes on without a formula, or names a plugin that raised, catches exceptions: the limit is none inside."""
    with pytest.raises(WorkLimitError), limited(1):
        try:
            spend(2)
        except Exception:  # noqa: BLE001 - this is what is tested
            pytest.fail("the limit was swallowed")


def test_the_end_of_an_inner_search_leaves_the_rest_to_the_outer_one() -> None:
    with limited(11):
        with pytest.raises(WorkLimitError), limited(4):
            spend(5)
        spend(6)
        with pytest.raises(WorkLimitError), limited(0):
            spend(1)


def test_an_inner_search_does_not_survive_the_outer_one() -> None:
    """An inner handler sees its own limit only: with the outer one spent it would do its next piece of work, and the next."""
    handled = []
    with pytest.raises(WorkLimitError), limited(3):
        for _ in range(5):
            try:
                with limited(100):
                    spend(4)
            except WorkLimitError:
                handled.append(1)
    assert handled == []


def test_what_is_done_as_a_whole_is_done_to_its_end() -> None:
    done = []
    with pytest.raises(WorkLimitError), limited(1):
        with whole():
            spend(2)
            done.append(1)
        done.append(2)
    assert done == [1]


def test_a_search_has_a_number_of_its_own() -> None:
    assert current_search() == 0
    with limited(1):
        first = current_search()
        with limited(1):
            assert current_search() not in (0, first)
        assert current_search() == first
    assert current_search() == 0


def test_an_answer_that_is_kept_counts_its_work_in_each_search_once() -> None:
    """Whether a search ends depends on the claim, and on no file that was verified before it by the same process."""

    @memoize(maxsize=8)
    def costly(number: int) -> int:
        spend(7)
        return number

    costly(1)
    for _ in range(2):
        with limited(100):
            before = spent()
            costly(1)
            costly(1)
            assert spent() - before == 7
    with pytest.raises(WorkLimitError), limited(6):
        costly(1)


def test_the_end_of_a_search_is_undecided() -> None:
    assert issubclass(WorkLimitError, DpspecError)
    assert WorkLimitError.exit_code == 3
