"""What the store knows of a site is read in parts, and is the same however small they are."""

import pytest

from crawlers.frontier import site_start
from crawlers.frontier.site_start import GREATEST_KEY, LEAST_KEY, read_starts
from crawlers.items import OTHER, State
from crawlers.missions.news.plan.news_scores import FIT
from crawlers.store.schema.tables import PullRow, WaitingPage
from tests.support.frontier_engine import Engine
from tests.support.orders import order as order_of
from tests.support.stored_rows import new_page, write_rows

SITE = 4
KEYS = (LEAST_KEY, -5, 0, 7, GREATEST_KEY)


@pytest.fixture
def read(database):
    """Reads what the store knows of a site."""
    for number, key in enumerate(KEYS, 1):
        state, level = (State.DONE, 0) if number == 3 else (State.WAITING, 1)
        write_rows(database, new_page(number, SITE, state, key=key, variant=2, level=level, priority=float(level)))
    write_rows(database, WaitingPage(5, "http://a.test/5", 0, 1, 0, 1.0, 0, "timeout", 1, None, 10.0, 70.0))
    write_rows(database, PullRow(SITE, 3, 2.0, 9.0), PullRow(SITE, 1, 0.0, 9.0))
    store = Engine(database).frontier().store

    def read(room=100, order="bfs"):
        made = order_of(order)
        (start,) = read_starts(store, made, [SITE], room=room, head_urls=100, has_pulls=True)
        return start

    return read


@pytest.mark.parametrize("chunk", [1, 2, 4, 5, 6])
def test_parts_of_any_size_give_the_same(read, monkeypatch, chunk):
    monkeypatch.setattr(site_start, "CHUNK", chunk)
    start = read()
    assert (start.counts, start.is_available) == ({State.WAITING: 4, State.DONE: 1}, True)
    assert start.known is not None
    assert list(start.known.merged_values(KEYS)) == list(KEYS)
    assert start.known.urls == {key: f"http://a.test/{n}" for n, key in enumerate(KEYS, 1) if n not in (3, 5)}
    assert [(retry.entry.id, retry.due_at, retry.wait_s) for retry in start.resting] == [(5, 70.0, 60.0)]


@pytest.mark.parametrize("chunk", [1, 2, 5, 6])
def test_more_urls_than_there_is_room_for_are_counted_only(read, monkeypatch, chunk):
    monkeypatch.setattr(site_start, "CHUNK", chunk)
    start = read(room=4)
    assert (start.known, start.counts, start.is_available) == (None, {State.WAITING: 4, State.DONE: 1}, True)
    assert read(room=5).known is not None


def test_shares_count_the_pulls_of_earlier_runs(read):
    shares = read(order="fit").shares
    assert shares is not None
    assert shares.choose([OTHER, FIT]) == FIT, "two pulls are more than the share of other URLs"
