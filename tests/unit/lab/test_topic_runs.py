"""The links of a stored topic crawl, for comparisons; replays of real runs test the other parts."""

import pytest

from crawlers.items import State
from crawlers.lab.topic_runs import links_between
from tests.support.topic_store import add_links, add_page, begin_topic


@pytest.mark.both_stores
def test_links_between_pages_lead_to_redirect_targets_and_loops_have_none(database):
    crawl_id, (a, b) = begin_topic(database, unicod=1.0)
    add_page(database, 1, a, "http://a.test/", {"unicod": 1})
    add_page(database, 2, b, "http://b.test/read", {"font": 2})
    add_page(database, 3, b, "http://b.test/old", state=int(State.MOVED), moved_to=2)
    add_page(database, 4, b, "http://b.test/gone", state=int(State.REFUSED))
    add_page(database, 5, a, "http://a.test/5", state=int(State.MOVED), moved_to=6)
    add_page(database, 6, a, "http://a.test/6", state=int(State.MOVED), moved_to=5)
    add_links(database, (1, 2, 2), (1, 3, 1), (1, 4, 1), (1, 5, 1), (2, 3, 1), (2, 1, 1), (2, 4, 1))
    assert list(links_between(database, crawl_id)) == [(1, 2), (1, 2), (2, 1), (2, 2)]
