"""Steps grow, so that a reader who has little time does not wait for a large one."""

from sqlalchemy import select

from crawlers.items import State
from crawlers.reports.catalogue.conditions import Filters
from crawlers.reports.catalogue.page_walk import END, Position, SearchPlace, search_place
from crawlers.storage.schema.tables import site
from crawlers.storage.url_kinds import UrlKind
from tests.support.stored_crawl import stored_crawl


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
