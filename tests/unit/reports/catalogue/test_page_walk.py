"""Steps grow, so that a reader who has little time does not wait for a large one."""

from sqlalchemy import select

from crawlers.items import State
from crawlers.reports.catalogue import index_walk
from crawlers.reports.catalogue.conditions import Filters
from crawlers.reports.catalogue.index_walk import END, Position, SearchPlace, page_steps, search_place
from crawlers.storage.schema.tables import site
from crawlers.storage.url_counts import UrlKind
from tests.support.stored_crawl import stored_crawl


def test_each_step_reads_at_most_twice_as_many_pages_as_the_one_before(sqlite, monkeypatch):
    monkeypatch.setattr(index_walk, "FIRST_STEP", 5)
    crawl_id = stored_crawl(sqlite)
    with sqlite.read() as connection:
        filtered, sizes = (
            [len(step[0]) for step in page_steps(connection, crawl_id, one, None, [], states=[State.DONE], at_once=40)]
            for one in (Filters(site="c.test"), Filters())
        )
    assert filtered == [40, 40, 40, 10, 0, 0]  # with filters, few of them may be wanted
    assert sizes == [4, 0, 5, 10, 20, 40, 40, 15, 0, 0]


def test_search_of_several_states_says_no_level_as_the_next_state_begins_at_the_first_one(sqlite):
    crawl_id = stored_crawl(sqlite)
    with sqlite.read() as connection:
        first, second = connection.execute(select(site.c.id).order_by(site.c.id)).scalars()

        def place(states, *position, **filters):
            return search_place(connection, crawl_id, Filters(**filters), states, Position(*position))

        within, end = (second, int(State.WAITING), 12, 7), (first, int(max(State)), *END)
        assert place([State.WAITING], *within) == SearchPlace(2, 2, 12)
        assert place(tuple(State), *within, state=UrlKind.WAITING) == SearchPlace(2, 2, 12)
        assert place(tuple(State), *within) == SearchPlace(1, 2, None)
        assert place(tuple(State), *end) == place([max(State)], *end) == SearchPlace(1, 2, None)
