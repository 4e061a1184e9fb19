"""Broad crawls of sites that link to each other and change: scope, budget, cash, and kills at any moment."""

import random
import signal
from contextlib import closing

import pytest

from crawlers.items import GONE, State
from crawlers.store.database import Database
from tests.support.killing import killed_at_request
from tests.support.running import Project, add_on
from tests.support.sites.server import Web, pages
from tests.support.sites.town import NAMES
from tests.support.workers_of_web import stored_cash
from tests.support.written_by_one import SETTINGS as RECORDED
from tests.support.written_by_one import ring, statements, wrote

SETTINGS = {"SITE_DELAY_SECONDS": 0, "STORE_BATCH_SECONDS": 0.01, "TRAPS_ENABLED": 0, "RETRY_BACKOFF_SECONDS": 0.01}
OPEN = {**SETTINGS, "SCOPE": "all"}


def cash(crawl):
    """The sum of the cash of all pages, messages and workers."""
    with closing(Database(crawl.database_url)) as database:
        ((crawl_id,),) = crawl.query("SELECT id FROM crawl")
        return stored_cash(database, crawl_id)


def check_links(crawl, town):
    """Check that the links of each page that was read are those of its version, or messages."""
    crawled = {site for (site,) in crawl.query("SELECT site FROM site")}
    stored = {}
    for source, url, count in crawl.query(
        "SELECT l.source_id, t.url, l.count FROM link l JOIN page t ON t.id = l.target_id"
        " UNION ALL SELECT source_id, url, count FROM message WHERE count > 0"
    ):
        stored.setdefault(source, {})[url] = count
    for page, title in crawl.query(f"SELECT id, title FROM page WHERE state = {int(State.DONE)}"):
        wanted = {url: count for url, count in town.links(title).items() if url.rpartition("/")[0] in crawled}
        assert stored.pop(page, {}) == wanted, title
    assert not stored, "pages that are no more have links"


def check(crawl, town):
    """No cash is lost, the right pages wait, and each page has the links of its stored version."""
    assert cash(crawl) == pytest.approx(1.0, abs=1e-9)
    for state, queue, number in crawl.query(
        "SELECT state, queue, count(*) FROM page LEFT JOIN importance ON page_id = id GROUP BY 1, 2"
    ):
        # A page that vanished is looked for again; one that was never there is not.
        wanted = {State.WAITING: [0], State.DONE: [1], State.REFUSED: [GONE, 1]}.get(state, [GONE])
        assert queue in wanted, (State(state), number)
    check_links(crawl, town)
    assert crawl.query("SELECT * FROM page_change WHERE last_seen >= changed_at") == []
    assert crawl.query("PRAGMA integrity_check") == [("ok",)]


SCOPES = {
    "sites": {"tagged", "dated"},
    "localhost": {"tagged", "dated", "far"},
    "all": set(NAMES),
}


@pytest.mark.parametrize("scope", SCOPES)
def test_crawl_stays_within_its_scope_and_its_budget(town, crawl_in, scope):
    budget = 120
    settings = {**SETTINGS, "SCOPE": scope, "PAGE_BUDGET": budget}
    crawl = crawl_in(scope, town.hosts("tagged", "dated"), spider="broad", **settings)
    assert crawl.run().status == 0
    assert town.responses.total() == budget
    assert crawl.query("SELECT count(*) FROM pull") == [(budget,)]
    origins = {town.origins[name] for name in SCOPES[scope]}
    inside = {site for (site,) in crawl.query("SELECT DISTINCT site FROM page p JOIN site s ON s.id = p.site_id")}
    assert inside == origins
    outside = {site for (site,) in crawl.query("SELECT DISTINCT site FROM external_url")}
    assert outside == set(town.origins.values()) - origins
    assert crawl.states == ["interrupted"]
    check(crawl, town)
    assert town.responses[304] > 5
    assert crawl.query("SELECT count(*) FROM page_change")[0][0] > 5
    left = crawl.query("SELECT DISTINCT p.state FROM page_change JOIN page p ON p.id = page_id")
    assert {int(State.DONE), int(State.REFUSED)} <= {state for (state,) in left}, "pages changed, and vanished"


def kill_at_request(crawl, town, rng, heads):
    """Run it until the web receives a request that it leaves without a response; return the exit status."""
    how = {"STORE_BATCH_SECONDS": rng.choice((0.001, 0.005, 0.02)), "FRONTIER_CACHE_URLS": 120 * heads}
    return killed_at_request(crawl, town, rng.randint(15, 40), **how)


def kill_before_commit(crawl, town, rng, heads):
    """Run the crawl until it is about to commit a transaction; return the exit status."""
    where = {"ADDONS": add_on("KillBeforeCommit"), "KILL_BEFORE_COMMIT": rng.randint(8, 20)}
    return crawl.run(STORE_BATCH_SECONDS=0.002, FRONTIER_CACHE_URLS=120 * heads, **where).status


def test_killed_crawl_keeps_all_its_cash_and_the_sites_that_it_found(town, crawl_in):
    crawl = crawl_in("killed", town.hosts("tagged"), spider="broad", PAGE_BUDGET=200, **OPEN)
    rng = random.Random(9)
    stored = []
    for kill in (kill_at_request, kill_before_commit, kill_at_request, kill_before_commit, kill_at_request):
        heads = rng.choice((1, 100_000))
        assert kill(crawl, town, rng, heads) == -signal.SIGKILL
        if crawl.query("SELECT * FROM order_totals"):
            check(crawl, town)
            stored.append(crawl.query("SELECT count(*) FROM pull")[0][0])
    assert stored == sorted(stored)
    assert 20 < stored[-1] < 200

    before = dict(crawl.query("SELECT site_id, count(*) FROM pull GROUP BY 1"))
    assert crawl.run().status == 0
    check(crawl, town)
    after = dict(crawl.query("SELECT site_id, count(*) FROM pull GROUP BY 1"))
    assert sum(after.values()) == 200
    assert len(after) == len(NAMES)
    assert all(after[site] > before.get(site, 0) for site in after), "sites found on the way are gone on with"


def test_sites_that_are_discovered_and_numbers_of_pages_are_reserved_and_written_by_the_writer(tmp_path):
    with Web(b=pages(ring(3)), c=pages(ring(3))) as found:
        others = [f"{found[name].origin}/" for name in "bc"]
        with Web(a=pages(ring(3, *others))) as web:
            project = Project(tmp_path, **RECORDED, PAGE_BUDGET=12, SCOPE="all")
            assert project.run("crawl", "broad", "-a", f"hosts={web['a'].origin}").status == 0
    assert wrote(statements(project), "INSERT INTO site")
    assert len(project.query("SELECT * FROM site")) == 3
