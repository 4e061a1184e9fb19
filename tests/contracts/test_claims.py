"""Workers of one crawl may join, freeze, wake, die and leave in any order: no site has two owners, nothing is lost.

The workers are simulated: each does with the store what a process does, by a clock of the test. A history takes half a
second, so few are tried; CLAIMS_EXAMPLES=1000 in the environment tries more.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from shutil import copy
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from sqlalchemy import func, select

from crawlers.errors import ClaimsLost
from crawlers.frontier.politeness import HostGate
from crawlers.items import State
from crawlers.store import worker_rows
from crawlers.store.database import Database
from crawlers.store.reading import crawls
from crawlers.store.reading.crawls import FINISHED, INTERRUPTED, RUNNING
from crawlers.store.reading.run_command import Command
from crawlers.store.schema.tables import PullRow, SiteRelease, crawl, page, pull, site, worker
from crawlers.store.sites.site_opening import SiteList, SiteRow, site_rows
from crawlers.store.worker_rows import ACTIVE, WorkerLock, free_locks
from crawlers.store.writing.bulk_writer import write_changes
from crawlers.store.writing.change_set import ChangeSet
from crawlers.workers import exchange
from crawlers.workers.exchange import Report
from tests.support.stored_rows import committed, ended_page, new_page

if TYPE_CHECKING:
    from sqlalchemy import Connection


EXAMPLES = int(os.environ.get("CLAIMS_EXAMPLES", "0"))
SITES = 7
SOURCES = {1: 0, 5: 0, 4: 3}  # by place in the list: the second and sixth site belong to the first one
LEADERS = {f"http://s{place}.test": f"http://s{leader}.test" for place, leader in SOURCES.items()}
PAGES = 5  # of a site
DELAY_S = 2.0
DEADLINE_S = 10.0
BUDGET = 25  # less than there are pages
MOST_WORKERS = 5
LONGEST_END = 400  # rounds of all workers until a crawl has ended


@dataclass(repr=False)
class Client:
    """A process: what it knows, which may be out of date."""

    id: int
    lock: WorkerLock
    beat_at: float  # the latest round
    gates: dict[int, HostGate] = field(default_factory=dict)  # of the sites that it believes to hold
    asked_at: dict[int, float | None] = field(default_factory=dict)
    waiting: dict[int, list[int]] = field(default_factory=dict)  # pages by site
    leases: dict[int, int] = field(default_factory=dict)  # sites by page
    granted: int = 0
    started: int = 0
    started_before: int = 0  # at the last round
    others: int = 0
    is_frozen: bool = False
    is_cut_off: bool = False  # the server has released its lock
    is_finishing: bool = False
    late: tuple[Any, Connection, dict[int, int]] | None = None  # a transaction that it has begun, and its pages

    def __repr__(self):
        return f"worker {self.id}"


class Workers(RuleBasedStateMachine):
    """The processes of one crawl with a page budget."""

    def __init__(self, make_database, budget):
        super().__init__()
        self.now = 1000.0
        self.budget = budget
        self.clock = patch.object(worker_rows, "server_time", lambda connection: self.now)
        self.clock.start()
        self.database = make_database()
        self.clients = []
        self.asked = {}  # what the hosts know
        self.ended = Counter()  # commits of each page
        self.is_over = False
        for _ in range(3):
            self.join(processes=3)

    # Events -----------------------------------------------------------------------------------------

    @precondition(lambda self: not self.is_over and len(self.clients) < MOST_WORKERS)
    @rule(processes=st.integers(1, 3))
    def join(self, processes=1):
        if any(client.is_finishing for client in self.clients):
            return  # refused, see tests/unit/store/reading/test_crawls.py
        locks = []
        listed = [SiteRow(0, f"http://s{number}.test", 1, None, DELAY_S) for number in range(SITES)]
        manifest = {"settings": {"PAGE_BUDGET": self.budget}}
        command = Command("c", "extlinks", manifest, SiteList(listed, leader_of=LEADERS.get), processes=processes)
        hold = lambda number: locks.append(WorkerLock(self.database, number))  # noqa: E731
        begun = crawls.begin(self.database, command, self.now, hold=hold)
        if not begun.resumed:
            self._add_pages(begun)
        client = Client(begun.worker_id, locks[0], self.now)
        self.clients.append(client)
        with self.database.read() as connection:
            held = select(site.c.id).where(site.c.worker_id == client.id)
            self._open(client, connection, list(connection.execute(held).scalars()))

    def _add_pages(self, begun):
        numbers = self.database.scalars(select(site.c.id).order_by(site.c.id))
        self.crawl_id, self.sites = begun.id, numbers
        rows = [new_page(of * 100 + number, of) for of in numbers for number in range(PAGES)]
        committed(write_changes, self.database, ChangeSet(*rows))

    @rule(seconds=st.sampled_from([0.5, 1.0, 3.0, 6.0, 11.0]))
    def time_passes(self, seconds):
        self.now += seconds

    @precondition(lambda self: self._awake())
    @rule(data=st.data(), pulls=st.integers(1, 4))
    def fetch(self, data, pulls):
        self._fetch(data.draw(st.sampled_from(self._awake())), pulls)

    @precondition(lambda self: self._awake())
    @rule(data=st.data())
    def exchange(self, data):
        self._exchange(data.draw(st.sampled_from(self._awake())))

    @precondition(lambda self: any(client.leases for client in self._awake()))
    @rule(data=st.data())
    def commit(self, data):
        self._commit(data.draw(st.sampled_from([client for client in self._awake() if client.leases])))

    @precondition(lambda self: not self.database.is_sqlite and any(client.leases for client in self._awake()))
    @rule(data=st.data())
    def begin_to_commit(self, data):
        """Begin a transaction that ends later, whatever happens in between."""
        client = data.draw(st.sampled_from([client for client in self._awake() if client.leases]))
        context = self.database.write()
        connection = context.__enter__()
        try:
            worker_rows.fence(connection, client.id, self.now, pulls=len(client.leases))
        except ClaimsLost as error:
            context.__exit__(type(error), error, None)
            self._exit(client)
            return
        client.late = context, connection, dict(client.leases)

    @precondition(lambda self: any(client.late for client in self.clients))
    @rule(data=st.data())
    def end_late_commit(self, data):
        self._end_late(data.draw(st.sampled_from([client for client in self.clients if client.late])))

    @precondition(lambda self: self._awake())
    @rule(data=st.data())
    def freeze(self, data):
        data.draw(st.sampled_from(self._awake())).is_frozen = True

    @precondition(lambda self: any(client.is_frozen for client in self.clients))
    @rule(data=st.data())
    def wake(self, data):
        data.draw(st.sampled_from([client for client in self.clients if client.is_frozen])).is_frozen = False

    @precondition(lambda self: self.clients)
    @rule(data=st.data())
    def die(self, data):
        self._exit(data.draw(st.sampled_from(self.clients)))

    @precondition(lambda self: self._awake())
    @rule(data=st.data())
    def die_while_fetching(self, data):
        client = data.draw(st.sampled_from(self._awake()))
        self._fetch(client, 4)
        self._exit(client)
        self._all_work()

    @precondition(lambda self: not self.database.is_sqlite and len(self._awake()) > 1)
    @rule(data=st.data(), is_noticed=st.booleans())
    def freeze_until_the_server_notices(self, data, is_noticed):
        """A file stays locked as long as the process exists."""
        client = data.draw(st.sampled_from(self._awake()))
        self._fetch(client, 4)
        client.is_frozen = client.is_cut_off = True
        self.now += DEADLINE_S
        client.lock.release()
        if is_noticed:
            self._all_work()

    @rule()
    def all_work(self):
        self._all_work()

    @precondition(lambda self: self._awake())
    @rule(data=st.data())
    def leave(self, data):
        self._leave(data.draw(st.sampled_from(self._awake())))

    @precondition(lambda self: any(client.is_finishing and not client.is_frozen for client in self.clients))
    @rule()
    def finish(self):
        for client in list(self.clients):
            if client.is_finishing and not client.is_frozen:
                self._finish(client)

    def _all_work(self):
        for client in self._awake():
            self._exchange(client)
            if client in self._awake():
                self._fetch(client, 2)
                self._commit(client)

    # What a process does ----------------------------------------------------------------------------

    def _awake(self):
        return [client for client in self.clients if not (client.is_frozen or client.is_finishing or client.late)]

    def _open(self, client, connection, numbers):
        for row in site_rows(connection, numbers):
            assert row.id not in client.gates
            gate = client.gates[row.id] = HostGate(1, DELAY_S)
            if row.asked_at is not None:
                assert row.asked_at <= self.now
                gate.resume(row.asked_at, float("-inf"), self.now)
            client.asked_at[row.id] = row.asked_at
            waits = select(page.c.id).where(page.c.site_id == row.id, page.c.state == int(State.WAITING))
            client.waiting[row.id] = list(connection.execute(waits.order_by(page.c.id)).scalars())

    def _fetch(self, client, pulls):
        if self.now - client.beat_at >= DEADLINE_S / 2:
            return  # it may have been frozen: others may hold its sites
        for of, waiting in client.waiting.items():
            gate = client.gates[of]
            is_allowed = client.started < client.granted or not self.budget
            if waiting and pulls and is_allowed and gate.in_flight < gate.parallel and gate.next_at <= self.now:
                assert self.now >= self.asked.get(of, float("-inf")) + DELAY_S, "a host was asked within its delay"
                self.asked[of] = client.asked_at[of] = self.now
                gate.record_start(self.now)
                client.leases[waiting.pop(0)] = of
                client.started += 1
                pulls -= 1

    def _commit(self, client):
        try:
            with self.database.write() as connection:
                worker_rows.fence(connection, client.id, self.now, pulls=len(client.leases))
                self._end_pages(client, connection, client.leases)
        except ClaimsLost:
            self._exit(client)
        else:
            self._committed(client, dict(client.leases))

    def _end_pages(self, client, connection, leases):
        changes = ChangeSet(*map(ended_page, leases))
        changes.add(*(PullRow(of, number, 1.0, self.now, client.id) for number, of in leases.items()))
        write_changes(connection, changes)

    def _end_late(self, client):
        assert client.late is not None
        context, connection, leases = client.late
        client.late = None
        self._end_pages(client, connection, leases)
        context.__exit__(None, None, None)
        self._committed(client, leases)

    def _committed(self, client, leases):
        assert client.id in self._active(), "a lost worker has stored something"
        for number, of in leases.items():
            del client.leases[number]
            client.gates[of].record_end()
            self.ended[number] += 1

    def _exchange(self, client):
        if client.is_cut_off:
            self._exit(client)
            return
        is_idle = not (client.leases or any(client.waiting.values()))
        at_hand = client.granted - client.started
        has_unused = at_hand > 0 and client.started == client.started_before
        limit = client.started if is_idle or has_unused else client.started + 2 if client.others else -1
        report = Report(
            client.id,
            self.crawl_id,
            self.budget,
            wanted_sites=SITES if is_idle else 0,
            wanted_pulls=0 if has_unused else 2,
            limit=limit if self.budget else -1,
            leases=len(client.leases),
            best_index=None if is_idle else 1.0,
            is_idle=is_idle,
        )
        try:
            with self.database.write() as connection:
                worker_rows.fence(connection, client.id, self.now)
                find_dead = partial(free_locks, self.database)
                worker_rows.lose_dead(connection, self.crawl_id, self.now, find_dead, client.id)
                learnt = exchange.exchange(connection, report, self.now)
                self._open(client, connection, learnt.claimed)
        except ClaimsLost:
            self._exit(client)
            return
        client.beat_at = self.now
        client.granted, client.others = learnt.granted, learnt.others
        client.started_before = client.started
        assert client.granted >= client.started or not self.budget
        assert not (learnt.is_over and client.leases)
        if learnt.idle:
            self._give_up(client)
        if learnt.is_over or learnt.is_budget_exhausted:
            self._leave(client)

    def _give_up(self, client):
        sources = {}
        for of in client.gates:
            place = self.sites.index(of)
            sources.setdefault(SOURCES.get(place, place), []).append(of)
        spare = [
            source
            for source in sources.values()
            if any(client.waiting[of] for of in source) and not set(source) & set(client.leases.values())
        ]
        given = [of for source in spare[: len(spare) // 2] for of in source]
        try:
            with self.database.write() as connection:
                worker_rows.fence(connection, client.id, self.now)
                write_changes(connection, ChangeSet(*(SiteRelease(of, client.asked_at[of], None) for of in given)))
        except ClaimsLost:
            self._exit(client)
            return
        for of in given:
            del client.gates[of], client.waiting[of], client.asked_at[of]

    def _leave(self, client):
        if client.leases:
            self._commit(client)
        if client not in self.clients:
            return
        if client.is_cut_off:
            self._exit(client)
            return
        try:
            client.is_finishing = committed(worker_rows.leave, self.database, client.id, self.now)
        except ClaimsLost:
            self._exit(client)
            return
        if not client.is_finishing:
            self._exit(client)

    def _finish(self, client):
        finished = not self.database.scalar(select(func.count()).where(page.c.state == int(State.WAITING)))
        try:
            options = {"finished": finished, "reason": "", "now": self.now, "worker_id": client.id}
            assert crawls.end(self.database, self.crawl_id, **options)
        except ClaimsLost:
            assert client.id not in self._active()
        else:
            assert not self.is_over, "two workers have ended the crawl"
            self.is_over = finished
        self._exit(client)

    def _exit(self, client):
        """End the process."""
        if client.late is not None:
            context, connection, _ = client.late
            connection.rollback()  # as the server does
            context.__exit__(None, None, None)
            client.late = None
        client.lock.release()
        if client in self.clients:
            self.clients.remove(client)

    # What must hold ---------------------------------------------------------------------------------

    def _active(self):
        return set(self.database.scalars(select(worker.c.id).where(worker.c.state == ACTIVE)))

    def _state(self):
        return str(self.database.scalar(select(crawl.c.state)))

    @invariant()
    def sites_have_one_owner_and_sources_one_worker(self):
        holders = dict(self.database.rows(select(site.c.id, site.c.worker_id)))
        active = set(self.database.scalars(select(worker.c.id).where(worker.c.state == ACTIVE)))
        assert set(holders.values()) <= active | {None}, "a site belongs to a worker that is not active"
        for client in self.clients:
            if client.id in active:
                held = {number for number, of in holders.items() if of == client.id}
                assert held == set(client.gates), "what a worker knows differs from what is stored"
        for place, leader in SOURCES.items():
            assert holders[self.sites[place]] == holders[self.sites[leader]], "a source is divided"

    @invariant()
    def budget_is_kept_and_no_page_ends_twice(self):
        rows = self.database.rows(select(worker.c.state, worker.c.granted, worker.c.used))
        pulls = self.database.scalar(select(func.count()).select_from(pull))
        done = self.database.scalar(select(func.count()).where(page.c.state == int(State.DONE)))
        assert sum(row.used for row in rows) == pulls == done == self.ended.total()
        assert set(self.ended.values()) <= {1}, "a page was ended twice"
        if self.budget:
            reserved = sum(row.granted if row.state == ACTIVE else row.used for row in rows)
            assert pulls <= reserved <= self.budget, "the budget is exceeded"

    @invariant()
    def one_worker_ends_the_crawl(self):
        active = self._active()
        assert sum(client.is_finishing and client.id in active for client in self.clients) <= 1

    def teardown(self):
        """Let the crawl go on to its end: nothing of it, and nothing of its budget, may be lost."""
        try:
            self._go_on_to_the_end()
        finally:
            for client in list(self.clients):
                self._exit(client)
            self.database.close()
            self.clock.stop()

    def _go_on_to_the_end(self):
        pulls = min(self.budget or SITES * PAGES, SITES * PAGES)
        for turn in range(LONGEST_END):
            self.now += 1.0
            if not self.clients:
                if self._state() != RUNNING and self.ended.total() == pulls:
                    break
                self.join()
            first = turn % len(self.clients)  # another one is the first in each turn
            for client in self.clients[first:] + self.clients[:first]:
                client.is_frozen = False
                if client.late is not None:
                    self._end_late(client)
                if client.is_finishing:
                    self._finish(client)
                    continue
                if client.leases:
                    self._commit(client)
                if client in self.clients:
                    self._exchange(client)
                if client in self.clients and not client.is_finishing:
                    self._fetch(client, 3)
                    self._commit(client)
            self.sites_have_one_owner_and_sources_one_worker()
            self.budget_is_kept_and_no_page_ends_twice()
        assert not self.clients, "the crawl does not end"
        assert self.ended.total() == pulls, "a part of the crawl was lost"
        assert self._state() == (INTERRUPTED if pulls < SITES * PAGES else FINISHED)


def histories(examples):
    # To find a shorter history takes minutes, and says little more.
    phases = (Phase.explicit, Phase.reuse, Phase.generate)
    return settings(max_examples=EXAMPLES or examples, stateful_step_count=40, phases=phases)


@pytest.mark.parametrize("budget", [0, BUDGET])
def test_claims_in_a_file(tmp_path_factory, empty_store, budget):
    def make():
        return Database(f"sqlite:///{copy(empty_store, tmp_path_factory.mktemp('claims') / 'crawl.sqlite')}")

    run_state_machine_as_test(lambda: Workers(make, budget), settings=histories(6))


def test_claims_in_postgresql(postgresql_store):
    def make():
        postgresql_store.clear()
        return Database(postgresql_store.url)

    run_state_machine_as_test(lambda: Workers(make, BUDGET), settings=histories(4))
