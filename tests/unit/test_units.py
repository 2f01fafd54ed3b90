"""Units: taken apart, held against each other by counting days of the calendar, and promises for longer times."""

import datetime

import pytest

from dpspec.api import build
from dpspec.blocks.units import LONGER, longer_units, most_within, read_unit
from dpspec.reason.rules import promise_for

DAY = datetime.timedelta(days=1)


def period(day, time):
    """Which period of the calendar a day lies in."""
    return {
        "day": day,
        "week": day.isocalendar()[:2],
        "month": (day.year, day.month),
        "quarter": (day.year, (day.month - 1) // 3),
        "year": day.year,
    }[time]


def counted():
    """For every two times: how many of the one have a day in one of the other, at most, over 40 years."""
    days = [datetime.date(2000, 1, 1) + k * DAY for k in range(366 * 40)]
    most = {}
    for coarse in LONGER:
        held = {}
        for day in days:
            for fine in LONGER:
                held.setdefault(period(day, coarse), {}).setdefault(fine, set()).add(period(day, fine))
        for fine in LONGER:
            most[fine, coarse] = max(len(found[fine]) for found in held.values())
    return most


def test_no_calendar_holds_more_of_a_time_than_is_said():
    for (fine, coarse), most in counted().items():
        assert most_within(f"user-{fine}", f"user-{coarse}") == most, (fine, coarse)


@pytest.mark.parametrize(("fine", "coarse"), [
    ("user-day", "user"), ("user-day", "person-month"), ("editor-project-week", "editor-month"), ("event", "user"),
])  # fmt: skip
def test_what_nothing_bounds_is_not_bounded(fine, coarse):
    assert most_within(fine, coarse) is None


def test_what_lies_within_a_unit_is_one_of_it():
    assert most_within("user", "user-day") == 1
    assert most_within("user-day", "user-page-day") == 1
    assert most_within("user-6-hours", "user-day") >= 5  # of a day of 25 hours


def test_words_and_other_words_for_them():
    assert read_unit("member x month") == read_unit("user-month")
    assert read_unit("user-dya").unknown == ("dya",)
    assert read_unit("user-day-within-region").unknown == ("within",)  # a time that is not the last word is known all the same
    assert read_unit("housing-unit").parts == ("housing-unit",)
    assert read_unit("editor-project-country-month").unknown == ()
    assert list(longer_units("user")) == []


def spec(unit="user-day", standard="mult", budget=None, distance="symmetric-difference", **more):
    return build(
        space={"type": "records", "unit": unit, "attributes": [{"name": "visits", "count": 2}]},
        input_divergence={"type": distance, "unit": unit},
        output_divergence={"type": standard, **more},
        budget=budget or {"epsilon": 2},
    ).spec


def test_epsilon_grows_with_the_days_and_rho_with_their_square():
    assert str(promise_for(spec(), "user-week").budget) == "epsilon = 14"
    assert str(promise_for(spec(standard="d-nor", budget={"rho": 1}), "user-week").budget) == "rho = 49"
    assert str(promise_for(spec("user-month"), "user-day").budget) == "epsilon = 2"


def test_no_number_follows_where_the_rule_is_false():
    approximate = promise_for(spec(standard="mult-delta", delta="1e-5"), "user-week")
    assert (approximate.most, approximate.budget) == (7, None)
    assert promise_for(spec(), "user").budget is None
    assert promise_for(spec(budget={"stated": False}), "user-week").budget is None
    assert promise_for(spec(budget={"at_most": {"epsilon": 2}}), "user-week").budget.uniform() == 14


@pytest.mark.parametrize(
    "near",
    [
        {"type": "within-distance", "most": 1, "of": {"type": "symmetric-difference", "unit": "user-day"}},
        {"type": "neighbour", "relation": {"type": "replace-one", "unit": "user-day"}},
    ],
)
@pytest.mark.parametrize(("held", "week"), [(["visits"], None), ([], 14)])
def test_neighbours_in_universes_give_no_paths(near, held, week):
    tables = [{"type": "marginal", "unit": "user-day", "attributes": [name]} for name in held]
    found = build(
        space={"type": "records", "unit": "user-day", "attributes": [{"name": "visits", "count": 2}]},
        multiverse={"invariants": tables},
        input_divergence=near,
        output_divergence={"type": "mult"},
        budget={"epsilon": 2},
    ).spec
    assert found.input_divergence.is_neighbour_form
    promised = promise_for(found, "user-week", called="user-day")  # as a deployment calls its unit
    assert promised.most == 7
    assert (None if promised.budget is None else promised.budget.uniform()) == week


VISITS = {"name": "visits", "categories": ["no", "some", "many"]}
ORDERED = {"type": "ordered-records", "unit": "user-day", "least": 7, "most": 7, "attributes": [VISITS]}


@pytest.mark.parametrize(
    ("space", "distance"),
    [
        (ORDERED, {"type": "hamming-ordered"}),
        (ORDERED, {"type": "personal-weights", "weights": [1, 1, 1, 1, 1, 1, 5]}),
        (ORDERED, {"type": "policy", "edges": [[["no"], ["some"]], [["some"], ["many"]]]}),
        ({**ORDERED, "type": "records"}, {"type": "hamming"}),
        ({**ORDERED, "type": "records", "least": 0}, {"type": "symmetric-difference"}),
        (
            {**ORDERED, "type": "records", "least": 0},
            {"type": "record-weights", "attribute": "visits", "weights": {"no": 1, "some": 1, "many": 5}},
        ),
    ],
)
def test_no_week_is_farther_apart_than_its_promise_says(space, distance):
    """Against the distances of datasets in which all days of a week differ, or are added."""
    promising = build(
        space=space,
        input_divergence={"unit": "user-day", **distance},
        output_divergence={"type": "mult"},
        budget={"epsilon": 2},
    ).spec
    ends = [[["no"]] * 7, [["many"]] * 7] if space["least"] else [[], [["many"]] * 7]
    apart = promising.distance(*map(promising.space.dataset, ends))
    for called in (None, "user-day"):
        found = promise_for(promising, "user-week", called=called)
        assert found.most == 7
        assert found.budget is None or found.budget.uniform() >= apart * 2


def test_a_promise_for_a_day_is_told_for_a_month_beside_another_one():
    from dpspec.api import compare

    notes = compare(spec(), spec("user-month")).notes
    assert any("follows epsilon = 62 for one user-month" in note for note in notes)


DAYS = {"type": "bit-vectors", "length": 9, "unit": "user-day"}
CHAIN = {"type": "policy", "unit": "user-day", "edges": [["0", "1"], ["1", "2"], ["2", "3"]]}
VISITS = {"type": "ordered-records", "unit": "user-day", "least": 9, "most": 9, "attributes": [{"name": "visits", "count": 4}]}


@pytest.mark.parametrize(
    ("space", "distance", "first", "last"),
    [
        (DAYS, {"type": "hamming-ordered", "unit": "user-day"}, [0] * 9, [1] * 7 + [0] * 2),
        (DAYS, {"type": "personal-weights", "weights": ["3"] * 9, "unit": "user-day"}, [0] * 9, [1] * 7 + [0] * 2),
        (DAYS, {"type": "symmetric-difference", "unit": "user-day"}, [0] * 9, [1] * 7 + [0] * 2),
        (VISITS, CHAIN, [["0"]] * 9, [["3"]] * 7 + [["0"]] * 2),
        (VISITS, {"type": "edit-distance", "unit": "user-day", "replacing": 2}, [["0"]] * 9, [["3"]] * 7 + [["0"]] * 2),
    ],
)
def test_the_promise_for_a_week_covers_two_datasets_that_differ_in_seven_days(space, distance, first, last):
    """One change may count more than 1: by a weight, along the edges of a policy, as an entry that goes and one that comes."""
    asked = build(space=space, input_divergence=distance, output_divergence={"type": "mult"}, budget={"epsilon": 1}).spec
    apart = asked.distance(*(asked.space.dataset(each) for each in (first, last)))
    promised = promise_for(asked, "user-week").budget
    assert promised is not None
    assert promised.uniform() == apart


def test_no_promise_follows_where_one_change_may_count_without_limit():
    policy = {"type": "policy", "unit": "user-day", "edges": [["0", "1"], ["2", "3"]]}
    one_sided = {"type": "one-sided", "attribute": "visits", "sensitive": ["0"], "unit": "user-day"}
    records = {"type": "records", "unit": "user-day", "attributes": [{"name": "visits", "count": 4}]}
    for space, distance, standard in ((VISITS, policy, "mult"), (records, one_sided, "mult-one-way")):
        asked = build(space=space, input_divergence=distance, output_divergence={"type": standard}, budget={"epsilon": 1}).spec
        assert promise_for(asked, "user-week").budget is None
        assert promise_for(asked, "user-day").budget is None
