"""Counted work: what ends a search is neither swallowed inside it, nor does it depend on what was computed before."""

import pytest

from dpspec.base.errors import DpspecError, WorkLimitError
from dpspec.base.memo import memoize
from dpspec.base.work import current_search, limited, spend, spent, whole


def test_units_are_counted() -> None:
    before = spent()
    spend(5)
    assert spent() - before == 5


def counted(times: int, done: list[int], units: int = 1) -> None:
    for _ in range(times):
        spend(units)
        done.append(1)


@pytest.mark.parametrize("most", [0, 4, 9])
def test_a_search_ends_when_its_units_are_spent(most: int) -> None:
    done: list[int] = []
    with pytest.raises(WorkLimitError, match="exceeds its limit of work"), limited(most):
        counted(10, done)
    assert len(done) == most


def without_a_formula() -> str:
    try:
        spend(2)
    except Exception:
        return "swallowed"
    return "not spent"


def test_code_inside_a_search_does_not_go_on_without_the_limit() -> None:
    """An engine that goes on without a formula, or names a plugin that raised, catches exceptions: the limit is none inside."""
    with pytest.raises(WorkLimitError), limited(1):
        without_a_formula()


def spent_inside(most: int, units: int) -> bool:
    """Whether a search that handles its own end comes to it."""
    try:
        with limited(most):
            spend(units)
    except WorkLimitError:
        return True
    return False


def test_the_end_of_an_inner_search_leaves_the_rest_to_the_outer_one() -> None:
    with limited(11):
        assert spent_inside(4, 5)
        spend(6)
        assert spent_inside(0, 1)


def test_an_inner_search_does_not_survive_the_outer_one() -> None:
    """An inner handler sees its own limit only: with the outer one spent it would do its next piece of work, and the next."""
    with pytest.raises(WorkLimitError), limited(3):
        assert not spent_inside(100, 4)


def done_whole(done: list[int]) -> None:
    with whole():
        counted(1, done, 2)
    done.append(2)


def test_what_is_done_as_a_whole_is_done_to_its_end() -> None:
    done: list[int] = []
    with pytest.raises(WorkLimitError), limited(1):
        done_whole(done)
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
