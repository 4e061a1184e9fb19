"""Crawls are begun, resumed and ended; the same command joins one that others run, any other is refused."""

from dataclasses import replace

import pytest
from sqlalchemy import delete, select

from crawlers.errors import ConfigError, CrawlEnded, StoreError
from crawlers.store import worker_rows
from crawlers.store.reading import crawls
from crawlers.store.reading.run_command import Command
from crawlers.store.schema.tables import crawl, crawler_setting, seed, site, worker
from crawlers.store.sites.site_opening import SiteList, SiteRow, discovered_site
from crawlers.store.worker_rows import WorkerLock, leave
from tests.support.stored_rows import add_sites, committed, execute, write_changes_of

A = SiteRow(0, "http://a.test", 2, None, 1.0)
B = SiteRow(0, "http://b.test", 1, 3, 0.5)
MANIFEST = {"settings": {"RULE": "roundrobin", "MAX_LEVEL": None, "TAGS": ["a"]}, "seeds": ["http://a.test"]}


COMMAND = Command("daily", "sitegraph", MANIFEST, SiteList([A]))


def begin(database, *sites, now=5.0, keeps=None, hold=lambda number: None, **changes):
    command = replace(COMMAND, **{"sites": SiteList(sites, keeps=keeps)} | changes)
    return crawls.begin(database, command, now, hold=hold)


@pytest.mark.both_stores
def test_interrupted_crawl_is_resumed_and_a_finished_one_is_followed_by_a_new_one(database):
    first = begin(database, A)
    crawls.end(database, first.id, finished=False, reason="stop_file", now=6.0)
    row = select(crawl.c.id, crawl.c.state, crawl.c.started_at, crawl.c.ended_at, crawl.c.reason)
    assert database.rows(row) == [(first.id, "interrupted", 5.0, 6.0, "stop_file")]
    assert begin(database, A).id == first.id
    assert database.rows(row) == [(first.id, "running", 5.0, None, None)]
    crawls.end(database, first.id, finished=True, reason="finished", now=7.0)
    second = begin(database, A)
    assert (second.id != first.id, second.resumed) == (True, False)
    assert second.sites[0].id != first.sites[0].id, "two crawls of a seed share no pages"
    assert database.scalars(select(seed.c.site)) == ["http://a.test"]


class Sites(tuple):
    reads = 0

    def __iter__(self):
        Sites.reads += 1
        return super().__iter__()


def test_list_of_many_sites_is_read_a_few_times(database):
    begin(database, *(replace(A, site=f"http://{number}.test") for number in range(50)))
    crawls.begin(database, replace(COMMAND, sites=SiteList(Sites([A, B]))), 6.0)
    assert Sites.reads < 10


@pytest.mark.parametrize(
    ("setting", "today"), [("URL_IGNORED_PARAMETERS", "['ref']"), ("URL_NORMALIZATION", "['lower_case']")]
)
def test_url_rules_cannot_be_changed_while_keys_by_them_are_stored(database, setting, today):
    rules = {"RULE": "ucb1", "URL_NORMALIZATION": "[]"}
    begin(database, A, manifest={"settings": rules | {"URL_IGNORED_PARAMETERS": "['utm_*']"}})
    with pytest.raises(ConfigError, match=rf"^{setting}=.*unfinished crawl daily began with {setting}=.*CRAWL=another"):
        begin(database, A, manifest={"settings": {setting: today}})
    assert begin(database, A, manifest={"settings": {"RULE": "gittins"}}).resumed


@pytest.mark.parametrize("tags", ["a", "a,area,frame", "['area', 'a', 'meta']"])
def test_tags_of_links_cannot_be_changed_but_written_otherwise(database, tags):
    def run(tags):
        return begin(database, A, manifest={"settings": {"LINK_TAGS": tags}})

    run("a, Area")
    with pytest.raises(ConfigError, match=r"^LINK_TAGS=.*unfinished crawl daily began with LINK_TAGS=a, Area; give"):
        run(tags)
    assert run(["area", "a"]).resumed


@pytest.mark.both_stores
def test_resumed_crawl_includes_the_discovered_sites_that_are_still_in_scope(database):
    first = begin(database, A, B)
    found = SiteRow(0, "http://sport.a.test", 1, None, 0.0)
    write_changes_of(database, discovered_site(first.id, replace(found, id=77)))

    def resumed(*sites, domain=""):
        keeps = (lambda row: row.site.endswith(domain) and not row.start_url) if domain else None
        again = begin(database, *sites, now=7.0, keeps=keeps)
        opened = database.scalars(select(site.c.site).where(site.c.is_open).order_by(site.c.id))
        assert [row.site for row in again.sites] == opened
        assert again.excluded == {"http://a.test", "http://b.test", "http://sport.a.test"}.difference(opened)
        return [name.removeprefix("http://") for name in opened]

    assert resumed(A, domain="a.test") == ["a.test", "sport.a.test"]
    assert resumed(B, domain="b.test") == ["b.test"]
    assert resumed(A) == ["a.test"]
    sport = replace(found, start_url="http://sport.a.test/")
    assert resumed(A, sport) == ["a.test", "sport.a.test"]
    assert resumed(A, domain="a.test") == ["a.test"]
    add_sites(database, first.id, found)
    assert resumed() == ["a.test", "b.test", "sport.a.test"]
    assert database.scalars(select(seed.c.site).where(seed.c.is_found)) == ["http://sport.a.test"]


# Joining a crawl that others run


C = SiteRow(0, "http://c.test", 1, None, 1.0)
SERVER_NOW = 1000.0


class Holder:
    """Begins crawls as a process does, and holds the locks of its workers until it dies."""

    def __init__(self, database):
        self.database = database
        self.locks = {}

    def begin(self, *sites, **options):
        return begin(self.database, *sites, hold=self.hold, **options)

    def hold(self, worker_id):
        self.locks[worker_id] = WorkerLock(self.database, worker_id)

    def die(self):
        while self.locks:
            self.locks.popitem()[1].release()


@pytest.fixture
def holder(database, monkeypatch):
    monkeypatch.setattr(worker_rows, "server_time", lambda connection: SERVER_NOW)
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
        (
            {"sites": SiteList([A])},
            "http://b.test is missing from the list of sites; give the same sites to join the crawl",
        ),
        (
            {"sites": SiteList([A, B, C])},
            "http://c.test is not one of its sites; give the same sites to join the crawl",
        ),
        ({"sites": SiteList([C])}, "http://a.test is missing"),  # the first difference of several
    ],
)
def test_other_command_does_not_join(database, holder, options, sentence):
    holder.begin(A, B)
    before = everything(database)
    with pytest.raises(ConfigError, match=sentence):
        holder.begin(A, B, **options)
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
    assert [committed(leave, database, first.worker_id + n, 1.0) for n in (0, 1)] == [False, True]
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
        begin(database, A, hold=refuse)
    assert [len(rows) for rows in everything(database)] == [0] * 5


def test_command_of_a_crawl_that_finds_sites_names_some_of_them(holder):
    holder.begin(A, B, keeps=lambda row: True)
    assert holder.begin(A, keeps=lambda row: True).others == 1
    with pytest.raises(ConfigError, match=r"http://c\.test is not one of its sites"):
        holder.begin(A, C, keeps=lambda row: True)
