"""Scoring reports events to the order, writes changes, and resumes from the written rows."""

import json

import pytest
from sqlalchemy import update

from crawlers.frontier.scoring import Scoring
from crawlers.items import GONE, State
from crawlers.ranking.opic import OPIC
from crawlers.store.schema.tables import SCORE_ROWS, ImportanceRow, OrderTotalsRow, page
from crawlers.store.writing.change_set import ChangeSet
from tests.support.frontier_engine import Engine
from tests.support.orders import installed, order
from tests.support.stored_rows import execute, new_page

SITE = 1


class Risen:
    """A site that records risen pages."""

    def __init__(self):
        self.rose = []

    def raise_page(self, queue, page, head_urls):
        self.rose.append((queue, page))


@pytest.fixture
def store(database):
    engine = Engine(database)
    assert engine.new_site() == SITE
    return engine.frontier().store


def scoring(store, scores=None, held=()):
    site = Risen()
    return Scoring(scores or OPIC(), store, {SITE: site}, held), site


def stored(store, number, state=0, level=0):
    store.submit(ChangeSet(new_page(number, SITE, state, level=level)))


def written(one, store):
    changes = ChangeSet()
    one.write(changes, 10)
    store.submit(changes)
    return changes


def test_only_changed_pages_are_written_and_requeued(store):
    one, site = scoring(store)
    for number in (1, 2, 3):
        one.add_waiting(SITE, number, 0)
    changes = written(one, store)
    assert [row.page_id for row in changes[ImportanceRow]] == [1, 2, 3]
    assert site.rose == [(0, 1), (0, 2), (0, 3)]
    site.rose.clear()

    one.note([1, *one.scores.fetched(1, {3: 1.0})])
    changes = written(one, store)
    assert [row[:3] for row in changes[ImportanceRow]] == [(1, SITE, 1), (3, SITE, 0)]
    assert json.loads(changes[OrderTotalsRow][0].totals) == one.scores.totals()
    assert site.rose == [(1, 1), (0, 3)]
    assert written(one, store)[ImportanceRow] == []


@pytest.mark.parametrize("name", installed("aopic", "topic"))
def test_states_that_changed_without_the_order_are_reported_to_it(database, store, name):
    one, _ = scoring(store, order(name).scores)
    stored(store, 1)
    one.add_waiting(SITE, 1, 0)
    written(one, store)
    store.flush()
    execute(database, update(page).values(state=int(State.REJECTED)))  # the limit of level came down
    stored(store, 2, level=3)  # waits: the limit went up
    store.flush()
    two, site = scoring(store, order(name).scores)
    assert two.recalled(SITE)[0] == [0]
    assert (two.scores.queue(1), two.scores.queue(2)) == (GONE, 0)
    rows = written(two, store)
    table = SCORE_ROWS[two.scores.table]
    assert [row[:3] for row in rows[table]] == [(1, SITE, GONE), (2, SITE, 0)]
    assert site.rose == [(0, 2)]
