"""The same command joins a crawl that others run; any other is told the first difference, and changes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import delete, select

from crawlers.errors import ConfigError, CrawlEnded, StoreError
from crawlers.storage import crawls, workers
from crawlers.storage.locks import WorkerLock
from crawlers.storage.schema.tables import crawl, crawler_setting, seed, site, worker
from crawlers.storage.site_rows import SiteRow
from crawlers.storage.workers import leave
from tests.support.stored_rows import committed, execute

A = SiteRow(0, "http://a.test", 2, None, 1.0)
B = SiteRow(0, "http://b.test", 1, 3, 0.5)
C = SiteRow(0, "http://c.test", 1, None, 1.0)
MANIFEST = {"settings": {"RULE": "roundrobin", "MAX_LEVEL": None, "TAGS": ["a"]}, "seeds": ["http://a.test"]}
SERVER_NOW = 1000.0


class Holder:
    """Begins crawls as a process does, and holds the locks of its workers until it dies."""

    def __init__(self, database):
        self.database = database
        self.locks: dict[int, WorkerLock] = {}

    def begin(self, *sites, **options):
        command = {"name": "daily", "mission": "sitegraph", "sites": sites, "manifest": MANIFEST, "now": 5.0}
        return crawls.begin(self.database, hold=self.hold, **command | options)

    def hold(self, worker_id):
        self.locks[worker_id] = WorkerLock(self.database, worker_id)

    def die(self, *workers):
        for worker_id in workers or list(self.locks):
            self.locks.pop(worker_id).release()


@pytest.fixture(autouse=True)
def server_clock(monkeypatch):
    monkeypatch.setattr(workers, "server_time", lambda connection: SERVER_NOW)


@pytest.fixture
def holder(database):
    holder = Holder(database)
    yield holder
    holder.die()


def everything(database):
    return [database.rows(select(one)) for one in (crawl, crawler_setting, site, seed, worker)]


def holders(database):
    return database.scalars(select(site.c.worker_id).order_by(site.c.id))


@pytest.mark.both_stores
def test_worker_that_joins_claims_free_sites_with_what_is_known_of_them(database, holder):
    addresses = {"robots_status": 200, "robots_text": "x", "robots_at": 1.0, "rest_until": 9.0}
    a = replace(A, start_url="http://a.test/x", folder="/x/", aliases=("http://aa.test", "http://ab.test"))
    first = holder.begin(a, B)
    homes = "https://a.test http://b.test https://www.a.test"
    execute(database, site.update().values(worker_id=None, asked_at=SERVER_NOW - 3.0, **addresses))
    execute(database, site.update().where(site.c.site == a.site).values(home_addresses=homes))
    second = holder.begin(a, B, now=100.0)
    its_a, its_b = second.sites
    known = {"asked_at": 97.0, "home_addresses": ("https://a.test", "https://www.a.test"), **addresses}
    assert its_a == replace(a, id=first.sites[0].id, **known)
    assert its_b.site == B.site
    assert holders(database) == [second.worker_id] * 2


@pytest.mark.both_stores
def test_crawl_of_dead_workers_is_resumed_at_once(database, holder):
    first, second = holder.begin(A, B), holder.begin(A, B)
    execute(database, crawl.update().values(control="pause", finisher_id=second.worker_id))
    holder.die()
    again = holder.begin(A, now=50.0)
    assert (again.others, again.resumed, again.excluded) == (0, True, {B.site})
    assert [(row.asked_at, row.is_new) for row in again.sites] == [(50.0, False)]
    assert holders(database) == [again.worker_id, None]
    assert database.rows(select(crawl.c.control, crawl.c.finisher_id)) == [(None, None)]
    states = {first.worker_id: "lost", second.worker_id: "lost", again.worker_id: "active"}
    assert database.rows(select(worker.c.id, worker.c.state).order_by(worker.c.id)) == list(states.items())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"mission": "extlinks"}, "unfinished crawl of the mission sitegraph, not extlinks; give this crawl another"),
        ({"manifest": {"settings": {"RULE": "ucb1"}}}, "RULE=ucb1: give RULE=roundrobin to join the crawl daily of"),
        ({"can_be_joined": False}, r"is being run by process \d+ on .*, and sitegraph is a spider of your own, which"),
        ({"sites": (A,)}, "http://b.test is missing from the list of sites; give the same sites to join the crawl"),
        ({"sites": (A, B, C)}, "http://c.test is not one of its sites; give the same sites to join the crawl daily"),
        ({"sites": (C,)}, "http://a.test is missing"),  # the first difference of several
    ],
)
def test_other_command_does_not_join(database, holder, options, sentence):
    holder.begin(A, B)
    before = everything(database)
    with pytest.raises(ConfigError, match=sentence):
        holder.begin(**{"sites": (A, B)} | options)
    assert everything(database) == before


def test_command_without_sites_or_with_a_setting_that_was_not_recorded_joins(holder):
    holder.begin(A, B)
    assert holder.begin().others == 1
    assert holder.begin(manifest={"settings": {**MANIFEST["settings"], "NEW": 1}}).others == 2
    holder.die()
    holder.begin(A)
    assert holder.begin(A).others == 1, "the excluded site is none of the crawl"


def test_crawl_that_is_ending_is_not_joined(database, holder):
    first = holder.begin(A)
    committed(leave, database, first.worker_id, 1.0)
    with pytest.raises(ConfigError, match=r"CRAWL=daily is ending: process \d+ on .* writes its outputs; wait for it"):
        holder.begin(A)
    assert crawls.end(database, first.id, finished=True, reason="finished", now=1.0, worker_id=first.worker_id)
    assert holder.begin(A).id != first.id


def test_worker_does_not_begin_a_new_crawl_instead_of_its_own(database, holder):
    first = holder.begin(A)
    assert holder.begin(A, rejoins=first.id).others == 1
    with database.write() as connection:
        assert not leave(connection, first.worker_id, 1.0)
        assert leave(connection, first.worker_id + 1, 1.0)
    with pytest.raises(CrawlEnded, match="the crawl daily has ended"):
        holder.begin(A, rejoins=first.id)
    crawls.end(database, first.id, finished=True, reason="finished", now=1.0, worker_id=first.worker_id + 1)
    with pytest.raises(CrawlEnded):
        holder.begin(A, rejoins=first.id)
    assert len(everything(database)[0]) == 1


def test_worker_does_not_begin_its_crawl_again_in_a_store_without_it(database, holder):
    first = holder.begin(A)
    with pytest.raises(StoreError, match="has no crawl 7 any more"):
        holder.begin(A, rejoins=7)
    execute(database, delete(crawl))
    with pytest.raises(StoreError, match=f"no crawl {first.id} any more, so its workers were stopped; restore it"):
        holder.begin(A, rejoins=first.id)
    assert everything(database)[0] == []


def test_mistake_leaves_no_worker(database, holder):
    def refuse(worker_id):
        raise ConfigError("no")

    with pytest.raises(ConfigError):
        crawls.begin(database, "daily", "sitegraph", [A], MANIFEST, 5.0, hold=refuse)
    assert [len(rows) for rows in everything(database)] == [0] * 5


def test_command_of_a_crawl_that_finds_sites_names_some_of_them(holder):
    holder.begin(A, B, keeps=lambda row: True)
    assert holder.begin(A, keeps=lambda row: True).others == 1
    with pytest.raises(ConfigError, match=r"http://c\.test is not one of its sites"):
        holder.begin(A, C, keeps=lambda row: True)
