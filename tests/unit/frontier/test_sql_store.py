"""The store of the frontier returns what was submitted; page numbers and query plans."""

from __future__ import annotations

from concurrent.futures import Future

import pytest
from sqlalchemy import text

from crawlers.frontier import stored_starts
from crawlers.frontier.scoring import _BEST_OF, ScoredRows
from crawlers.frontier.sql_store import _FROM_OF, _KNOWN, _NUMBERS_KNOWN, _WAITING, SqlFrontierStore
from crawlers.frontier.stored_starts import GREATEST_KEY, LEAST_KEY, read_starts
from crawlers.frontier.url_cache import MAX_LEVEL, REVIVABLE, TAKEN, pack
from crawlers.frontier.values import NONE, QueueEntry, Retry
from crawlers.items import GONE, OTHER, REVISIT, State
from crawlers.ranking.page_orders import BREADTH_FIRST
from crawlers.store.schema.tables import ImportanceRow, NewPage, OrderTotalsRow, PullRow, UnchangedPage, WaitingPage
from crawlers.store.streaming import AMONG
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.pulls import downloads_of_site
from crawlers.store.writing.writer import Writer
from tests.support.frontier_engine import Engine
from tests.support.stored_rows import begin, ended_page, new_page, write_rows

pytestmark = pytest.mark.both_stores

LEAST, MOST = -(2**63), 2**63 - 1
FAILED = ("http://a.test/failed", 0, 2, 1, 43.0, int(State.WAITING), "timeout", 2, None, 10.0)  # of a waiting page


@pytest.fixture
def store(database):
    begin(database, "http://a.test")
    writer = Writer(database)
    yield SqlFrontierStore(database, writer, 1, looks_back=True)
    writer.close()


def write(store, *rows):
    store.submit(ChangeSet(*rows))
    store.flush()


def row(page_id, key, state, priority=0.0, variant=0, reason=None):
    url = f"http://a.test/{page_id}"
    place = (variant, 2, 1, priority, int(state))
    return NewPage(page_id, 1, key, url, *place, reason, f"request {page_id}", 7, 0.0, 0.0)


def scored(page_id, site_id, queue, score=0.0):
    return ImportanceRow(page_id, site_id, queue, score, 0.0, 0.0, 0.0, 0)


def test_known_urls_have_all_their_fields(store):
    pages = [
        row(1, LEAST, State.WAITING, variant=2),
        row(2, MOST, State.WAITING, variant=1),
        row(3, 3, State.DONE, variant=2),
        row(4, 4, State.REJECTED, reason="too_deep 2 1"),
        row(5, 5, State.REJECTED, reason="extension pdf"),
        row(6, 6, State.REJECTED),
    ]
    write(store, *pages)
    known = listed(store.known_from(1, "key", LEAST, MOST, 9))
    assert known == [
        (LEAST, pack(1, 2, 1, 2, 0), State.WAITING, "http://a.test/1"),
        (3, pack(3, 2, 1, 2, TAKEN), State.DONE, None),
        (4, pack(4, 2, 1, 0, REVIVABLE), State.REJECTED, None),
        (5, pack(5, 2, 1, 0, TAKEN), State.REJECTED, None),
        (6, pack(6, 2, 1, 0, TAKEN), State.REJECTED, None),
        (MOST, pack(2, 2, 1, 1, 0), State.WAITING, None),
    ]
    assert listed(store.known_from(1, "key", 3, MOST, 2)) == known[1:3]
    assert sorted(listed(store.known_urls(1, [LEAST, 4, 12345]))) == [known[0], known[2]]
    nothing = ([], [], [], [], False)
    assert store.known_urls(1, []) == store.known_from(2, "key", LEAST, MOST, 9) == nothing


def test_urls_of_several_sites_are_read_together(store):
    states = {LEAST: State.WAITING, 7: State.DONE, MOST: State.REJECTED}
    for site in (3, 1, 2):
        pages = (row(10 * site + n, key, state) for n, (key, state) in enumerate(sorted(states.items(), reverse=True)))
        store.submit(ChangeSet(*(page._replace(site_id=site) for page in pages)))
    write(store, WaitingPage(12, *FAILED, 35.0))
    assert store.numbers_known([1, 3, 4]) == {1: 3, 3: 3}
    found = store.known_of([3, 1, 4])
    assert found == {site: store.known_from(site, "key", LEAST, MOST, 9) for site in (1, 3)}
    assert [found[site].keys for site in (1, 3)] == [sorted(states)] * 2
    assert (store.numbers_known([]), store.known_of([]), store.retries([])) == ({}, {}, {})


def listed(rows):
    return [*zip(rows.keys, rows.values, rows.states, rows.urls, strict=True)]


def test_roots_that_were_read_are_noticed(store):
    root = row(2, 2, State.DONE)._replace(level=0)
    store.submit(ChangeSet(row(1, 1, State.WAITING), root, row(3, 3, State.DONE)))
    write(store, WaitingPage(1, *FAILED, 35.0))
    found = [store.known_from(1, "key", key, MOST, 1) for key in (1, 2, 3)]
    assert [rows.have_root for rows in found] == [False, True, False]


def test_largest_facts_of_a_known_url_fit_into_its_integer(store):
    most = (2**32 - 1, MAX_LEVEL, 20, 3)
    page = row(most[0], 1, State.WAITING, variant=3)
    write(store, page._replace(level=MAX_LEVEL, hops=20))
    assert store.known_urls(1, [1]).values == [pack(*most, 0)]


def test_retries_are_those_of_pages_that_still_wait(store):
    store.submit(ChangeSet(*(row(number, number, State.WAITING) for number in (1, 2, 3))))
    store.submit(ChangeSet(*(WaitingPage(number, *FAILED, 35.0) for number in (1, 2, 3))))
    store.submit(ChangeSet(ended_page(1)))
    write(store, WaitingPage(2, *FAILED))  # found nearer
    retry = Retry(QueueEntry(43.0, 3, 3, "http://a.test/failed", 2, 1, 2, None), 35.0, 25.0)
    assert store.retries([2, 1]) == {1: [retry]}


def test_downloads_of_a_site_are_its_pulls_or_else_attempts_at_its_pages(store):
    store.submit(ChangeSet(*(row(number, number, State.DONE) for number in (1, 2))))
    write(store, WaitingPage(1, *FAILED, 35.0))
    assert (downloads_of_site(store.database, 1), downloads_of_site(store.database, 2)) == (2, 0)
    store.submit(ChangeSet(PullRow(1, 2, 3.0, 5.0, 7), PullRow(1, 1, 0.0, 6.0), PullRow(2, 1, 9.0, 6.0)))
    write(store, PullRow(1, 2, 1.0, 4.0))
    assert (downloads_of_site(store.database, 1), downloads_of_site(store.database, 2)) == (3, 1)


def test_waiting_urls_are_in_order_behind_a_position(store):
    places = [(21.0, 4), (21.0, 2), (0.0, 9), (42.5, 1), (21.0, 3)]
    pages = [row(page_id, page_id, State.WAITING, priority) for priority, page_id in places]
    write(store, *pages, row(10, 10, State.DONE))
    everything = store.waiting(1, (float("-inf"), 0), 100)
    assert [(e.priority, e.id) for e in everything] == sorted(places)
    assert tuple(everything[0]) == (0.0, 9, 9, "http://a.test/9", 2, 1, 0, "request 9", 0)
    assert [e.id for e in store.waiting(1, (21.0, 2), 2)] == [3, 4]
    assert [e.id for e in store.waiting(1, (21.0, 4), 9)] == [1]
    assert store.waiting(2, (float("-inf"), 0), 9) == []


def test_best_urls_of_several_sites_are_those_of_each_queue(store):
    for number in range(1, 31):
        site, queue = 1 + number % 2, (OTHER, REVISIT, GONE)[number % 3]
        page = row(number, number, State.WAITING if queue == OTHER else State.DONE)._replace(site_id=site)
        write(store, page, scored(number, site, queue, float(number % 4)))
    rows = ScoredRows(store, "importance", ())
    found, best = rows.best_of([2, 1, 9], 3), rows.best
    queues = (OTHER, REVISIT)
    assert found == {site: {queue: best(site, queue, NONE, 3) for queue in queues} for site in (1, 2)}
    assert all(len(entries) == 3 for queues in found.values() for entries in queues.values())
    entries = best(1, OTHER, NONE, 99)
    for place, entry in enumerate(entries):
        assert best(1, OTHER, (entry.priority, entry.id), 2) == entries[place + 1 : place + 3]
    assert len({entry.priority for entry in entries}) < len(entries)


def test_unscored_pages_are_those_whose_state_changed_without_the_order(store):
    states = {State.WAITING: (OTHER, GONE, None), State.REJECTED: (OTHER, REVISIT, GONE), State.DONE: (REVISIT,)}
    pages = enumerate(((state, queue) for state, queues in states.items() for queue in queues), 1)
    for number, (state, queue) in pages:
        scores = [] if queue is None else [scored(number, 1, queue)]
        write(store, row(number, number, state), *scores)
    found = [(page.id, bool(page.waits)) for page in ScoredRows(store, "importance", ()).unscored()]
    assert found == [(2, True), (3, True), (4, False)]


# Page numbers and query plans


def test_numbers_are_new_across_blocks_and_stores(store, database):
    numbers = [store.page_ids.next_id() for _ in range(10_001)]
    assert numbers == list(range(1, 10_002))
    other = SqlFrontierStore(database, store._writer, 1, looks_back=True)
    assert other.page_ids.next_id() > 20_000


def plan(sqlite, statement):
    """Return the steps: PostgreSQL plans by the numbers of a real crawl; SQLite by the statement alone."""
    values = {"site": 1, "priority": 0.0, "id": 0, "limit": 9, "first": 0, "last": 9, "ids": "[1]"}
    with sqlite.read() as connection:
        return [line[3] for line in connection.execute(text(f"EXPLAIN QUERY PLAN {statement}"), values)]


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (_WAITING, "page_waiting"),
        (f"{_KNOWN}{_FROM_OF['key']}", "page_key"),
        (f"{_KNOWN}{_FROM_OF['id']}", "INTEGER PRIMARY KEY"),
        (f"{_KNOWN}site_id = :site AND key{AMONG['sqlite']}", "page_key"),
        (_NUMBERS_KNOWN.format(among=AMONG["sqlite"]), "page_key"),
        (f"{_KNOWN}site_id{AMONG['sqlite']} ORDER BY site_id, key", "page_key"),
    ],
)
def test_sqlite_uses_the_index_and_sorts_nothing(sqlite, statement, index):
    steps = plan(sqlite, statement)
    assert any(index in step for step in steps)
    assert not any(step.startswith(("SCAN page", "USE TEMP B-TREE")) for step in steps)


def test_sqlite_finds_the_best_pages_by_the_index_alone(sqlite):
    steps = plan(sqlite, _BEST_OF.format(table="importance", among=AMONG["sqlite"]))
    assert any("USING COVERING INDEX importance_waiting (site_id=? AND queue>?)" in step for step in steps)


class Commits:
    """A writer that never commits by itself, and notes how many change sets it was asked to commit."""

    def __init__(self):
        self.submitted = self.committed = 0
        self.waited = []

    def submit(self, changes):
        self.submitted += 1

    def wait_for(self, number):
        self.waited.append(number)
        self.committed = max(self.committed, number)

    def run(self, job):
        result = Future()
        result.set_result(range(1, 100))
        return result


def test_look_back_waits_for_the_rows_of_the_page_only(sqlite):
    commits = Commits()
    store = SqlFrontierStore(sqlite, commits, 1, looks_back=True)
    for page_id in (7, 8, 7, 9):
        store.submit(ChangeSet(OrderTotalsRow(1, 0, "[]", "[]"), UnchangedPage(page_id, None, 0.0, None, None)))
    assert [store.entries(pages) for pages in ([8], [7, 8], [5])] == [[], [], []]
    assert commits.waited == [2, 3, 0]


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

    def read(room=100):
        (start,) = read_starts(store, BREADTH_FIRST, [SITE], room=room, head_urls=100, has_pulls=True)
        return start

    return read


@pytest.mark.parametrize("dense", [0, 8])  # by their keys, or by their numbers
@pytest.mark.parametrize("chunk", [1, 2, 4, 5, 6])
def test_parts_of_any_size_give_the_same(read, monkeypatch, chunk, dense):
    monkeypatch.setattr(stored_starts, "CHUNK", chunk)
    monkeypatch.setattr(stored_starts, "DENSE", dense)
    start = read()
    assert (start.counts, start.is_available) == ({State.WAITING: 4, State.DONE: 1}, True)
    assert start.known is not None
    assert list(start.known.merged_values(KEYS)) == list(KEYS)
    assert start.known.urls == {key: f"http://a.test/{n}" for n, key in enumerate(KEYS, 1) if n not in (3, 5)}
    assert [(retry.entry.id, retry.due_at, retry.wait_s) for retry in start.resting] == [(5, 70.0, 60.0)]


@pytest.mark.parametrize("chunk", [1, 2, 5, 6])
def test_more_urls_than_there_is_room_for_are_counted_only(read, monkeypatch, chunk):
    monkeypatch.setattr(stored_starts, "CHUNK", chunk)
    start = read(room=4)
    assert (start.known, start.counts, start.is_available) == (None, {State.WAITING: 4, State.DONE: 1}, True)
    assert read(room=5).known is not None
