"""The stored topic of a crawl."""

import random
from math import log, sqrt

import pytest
from sqlalchemy import select

from crawlers.errors import ConfigError
from crawlers.missions.topic import topic_file
from crawlers.missions.topic.topic_file import forget_topic, language_of, store_similarities, topic_change
from crawlers.missions.topic.topic_tables import topic_page
from tests.support.stored_rows import begin, committed
from tests.support.topic_store import add_page, begin_topic


@pytest.mark.both_stores
def test_crawl_can_be_resumed_with_another_topic_after_its_topic_is_deleted(database):
    def run(topic):
        return begin(database, mission="topic", TOPIC=topic, ORDER="topic").id

    one, two = (f'[{{"{word}": 1.0}}, [], [0.5, 0, 0, 0.5], "en"]' for word in ("one", "two"))
    crawl_id = run(one)
    with pytest.raises(ConfigError, match="topic changed"):
        run(two)
    committed(forget_topic, database, crawl_id)
    assert run(two) == crawl_id
    with pytest.raises(ConfigError, match="topic changed"):
        run(one)


def test_changed_strategy_is_named():
    mixes = ([1.0, 0, 0, 0], [0.5, 0, 0, 0.5], [0.8, 0.2, 0, 0])
    topics = [f'[{{"one": 1.0}}, [], {weights}, "en"]' for weights in mixes]
    assert topic_change(*topics[:2]) == ("the strategy is learnt", "anchor")
    assert topic_change(*topics[1:]) == ("the strategy is 0.8, 0.2, 0, 0", "learnt")


def test_language_is_that_of_the_given_topic(database):
    topic = '[{"кодировк": 1.0}, [], [0.4, 0.3, 0.3], "ru"]'
    assert language_of(database, begin(database, name="russian", TOPIC=topic).id) == "ru"
    assert language_of(database, begin(database, name="other").id) == "auto"


# The final similarities of a topic crawl, which depend only on the set of its pages


PAGES = [{"unicod": 2, "font": 1}, {"unicod": 1}, {"font": 3}, {}, {"text": 1, "tabl": 5}]


def similarities(database):
    rows = database.rows(select(topic_page.c.page_id, topic_page.c.similarity))
    return {number: similarity for number, similarity in rows}


@pytest.mark.both_stores
def test_similarities_are_cosines_with_the_document_frequencies_of_all_pages(database):
    crawl_id, (a, b) = begin_topic(database, unicod=3.0, text=4.0)
    for number, terms in enumerate(PAGES, 1):
        add_page(database, number, a if number % 2 else b, f"http://a.test/{number}", terms, similarity=0.5)
    mean = store_similarities(database, crawl_id)
    # |S| = 5; "unicod" and "font" are on two pages, "text" and "tabl" on one.
    two, one = 1 + log(5 / 2), 1 + log(5 / 1)
    topic = {"unicod": 0.6 * two, "text": 0.8 * one}
    length = sqrt(topic["unicod"] ** 2 + topic["text"] ** 2)
    wanted = {
        1: topic["unicod"] * 2 * two / (length * sqrt((2 * two) ** 2 + two**2)),
        2: topic["unicod"] / length,
        3: 0.0,
        4: 0.0,
        5: topic["text"] * one / (length * sqrt(one**2 + (5 * one) ** 2)),
    }
    assert similarities(database) == pytest.approx(wanted, abs=1e-12)
    assert mean == pytest.approx(sum(wanted.values()) / 5, abs=1e-12)


def test_similarities_do_not_depend_on_the_order_of_the_pages(database, monkeypatch):
    monkeypatch.setattr(topic_file, "PAGES_AT_ONCE", 2)
    found = []
    for crawl in range(3):
        crawl_id, (a, _) = begin_topic(database, str(crawl), unicod=3.0, text=4.0)
        order = random.Random(crawl).sample(range(len(PAGES)), len(PAGES))
        for place, number in enumerate(order):
            add_page(database, 100 * crawl + place + 1, a, f"http://a.test/{number}", PAGES[number])
        assert store_similarities(database, crawl_id)
        known = similarities(database)
        found.append({number: known[100 * crawl + place + 1] for place, number in enumerate(order)})
    assert found == found[:1] * 3


@pytest.mark.both_stores
def test_pages_of_other_crawls_do_not_count_and_are_unchanged(database):
    _, (a, _) = begin_topic(database, "other", text=1.0)
    add_page(database, 1, a, "http://a.test/", {"text": 1}, similarity=0.25)
    crawl_id, (a, _) = begin_topic(database, "mine", text=1.0)
    add_page(database, 2, a, "http://a.test/", {"text": 1, "font": 1}, similarity=0.25)
    assert store_similarities(database, crawl_id)
    assert similarities(database) == {1: 0.25, 2: pytest.approx(1 / sqrt(2), abs=1e-12)}


def test_crawl_without_a_topic_is_unchanged(database):
    crawl_id, (a, _) = begin_topic(database)
    add_page(database, 1, a, "http://a.test/")
    assert store_similarities(database, crawl_id) is None
