"""Page orders and their options."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.ranking.opic import OPIC
from crawlers.ranking.page_orders import BREADTH_FIRST, MAX_HOPS
from crawlers.store.schema.tables import SCORE_ROWS
from tests.support.orders import ORDER_NAMES, order

OPTIONS = {
    "AOPIC_VIRTUAL_SHARE": 0.3,
    "AOPIC_WINDOW_VISITS": 5.0,
    "AOPIC_UNCRAWLED_WEIGHT": 2.0,
}
OPIC_OPTIONS = {"virtual_share": 0.3, "uncrawled_weight": 2.0}
places = st.tuples(st.integers(0, 32_767), st.integers(0, MAX_HOPS))


@given(places, places)
def test_breadth_first_sorts_by_level_and_then_by_redirects(one, other):
    assert (BREADTH_FIRST.priority(*one) < BREADTH_FIRST.priority(*other)) == (one < other)


@pytest.mark.parametrize("name", ORDER_NAMES)
def test_priorities_are_finite_numbers(name):
    # They are stored, and databases represent infinity differently.
    priority = order(name).priority(32_767, MAX_HOPS)
    assert isinstance(priority, float)
    assert abs(priority) < 1e300


@pytest.mark.parametrize("scores", [one for name in ORDER_NAMES if (one := order(name).scores) is not None])
def test_records_have_the_columns_of_the_table_in_the_store(scores):
    assert SCORE_ROWS[scores.table]._fields[4:] == scores.columns


def history(scores):
    """Return the scores in the course of a small crawl."""
    said = []
    scores.add_waiting(1, 0)
    for page in range(1, 5):
        links = {page + step: 0.5 / step for step in (1, 2)}
        for target in links:
            scores.add_waiting(target, page)
        scores.fetched(page, links)
        said += [(scores.queue(n), scores.score(n), scores.record(n)) for n in range(1, 7)]
        said += [scores.totals(), scores.offset(0), scores.offset(1)]
    return said


@pytest.mark.parametrize(
    ("name", "scores"),
    [
        ("aopic", OPIC("greedy", window=5.0, **OPIC_OPTIONS)),
        ("aopic-cyclic", OPIC("cyclic", window=5.0, **OPIC_OPTIONS)),
        ("aopic-random", OPIC("random", window=5.0, **OPIC_OPTIONS)),
        ("opic", OPIC(**OPIC_OPTIONS)),
    ],
)
def test_scores_of_orders_follow_their_options(name, scores):
    found = history(order(name, **OPTIONS).scores)
    assert found == history(scores)
    assert found != history(order(name).scores)
