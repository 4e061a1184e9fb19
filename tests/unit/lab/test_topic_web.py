"""The stored web of a topic crawl, for replays and comparisons."""

import pytest
from sqlalchemy import insert

from crawlers.algorithms.topic.terms import Terms
from crawlers.algorithms.topic.vectors import Topic
from crawlers.items import State
from crawlers.lab.simulation.topic_replay import FetchOutcome
from crawlers.lab.topic_web import StoredWeb, links_between
from crawlers.storage.schema.score_tables import link_text, relevance
from crawlers.storage.schema.tables import link_context, page
from tests.support.topic_store import add_links, add_page, begin_topic


@pytest.fixture
def crawl_id(database):
    """A page that links to one page of each state; 6 was rejected when it was discovered."""
    crawl_id, (a, b) = begin_topic(database, unicod=1.0)
    add_page(database, 1, a, "http://a.test/", {"unicod": 1}, level=0)
    add_page(database, 2, b, "http://b.test/read", {"font": 2}, fetched_at=1.0, found_on=1)
    add_page(database, 3, b, "http://b.test/old", state=int(State.MOVED), moved_to=2, found_on=1)
    add_page(database, 4, b, "http://b.test/robots", state=int(State.REJECTED), found_on=1)
    add_page(database, 5, b, "http://b.test/waits", state=int(State.WAITING), found_on=1)
    add_page(database, 6, b, "http://b.test/x.pdf", state=int(State.REJECTED), found_on=1)
    add_page(database, 7, b, "http://b.test/gone", state=int(State.REFUSED), level=0, found_on=3)
    add_links(database, (1, 5, 1), (1, 2, 2), (1, 3, 1), (1, 6, 1), (2, 3, 1), (2, 1, 1), (2, 7, 1))
    texts = [(91, "here", "fonts here"), (92, "there", "more fonts"), (93, "here", "weather")]
    with database.write() as connection:
        row = {"queue": -1, "score": 0.0, "anchor": 0.0, "level": 0, "rank": 0.0}
        for number, site_id in connection.execute(page.select().with_only_columns(page.c.id, page.c.site_id)).all():
            if number != 6:
                connection.execute(insert(relevance).values(page_id=number, site_id=site_id, **row))
        for number, anchor, context in texts:
            values = {"id": number, "anchor": anchor, "context": context, "position": "", "rel": "", "tag": "a"}
            connection.execute(insert(link_context).values(values))
        for target, context_id in ((2, 91), (2, 92), (5, 93)):
            connection.execute(insert(link_text).values(source_id=1, target_id=target, context_id=context_id))
    return crawl_id


@pytest.mark.both_stores
def test_outcomes_are_the_stored_states(database, crawl_id):
    with database.read() as connection:
        web = StoredWeb(connection, crawl_id, Topic({"font": 1.0}), Terms("en"))
        assert web.roots == [1], "the target of a redirect on level 0 is not a root"
        assert [web.site(number) is not None for number in range(1, 9)] == [True] * 5 + [False, True, False]
        assert [web.outcome(number) for number in (1, 2, 3, 4, 5, 7)] == [
            FetchOutcome(True),
            FetchOutcome(True),
            FetchOutcome(False, moved_to=2),
            FetchOutcome(False, was_requested=False),
            None,
            FetchOutcome(False),
        ]


def test_links_are_in_order_of_discovery_with_the_value_of_their_best_text(database, crawl_id):
    with database.read() as connection:
        web = StoredWeb(connection, crawl_id, Topic({"font": 3.0, "weather": 4.0}), Terms("en"))
        assert list(web.links(1).items()) == [(2, pytest.approx(0.6)), (3, 0.0), (5, pytest.approx(0.8)), (6, 0.0)]
        assert web.links(5) == {}


@pytest.mark.both_stores
def test_links_between_pages_lead_to_redirect_targets(database, crawl_id):
    assert list(links_between(database, crawl_id)) == [(1, 2), (1, 2), (2, 1), (2, 2)]


def test_redirect_loops_end(database):
    crawl_id, (a, _) = begin_topic(database, unicod=1.0)
    add_page(database, 1, a, "http://a.test/", {"unicod": 1})
    add_page(database, 2, a, "http://a.test/2", state=int(State.MOVED), moved_to=3)
    add_page(database, 3, a, "http://a.test/3", state=int(State.MOVED), moved_to=2)
    add_links(database, (1, 2, 1))
    assert list(links_between(database, crawl_id)) == [], "a loop has no target"
