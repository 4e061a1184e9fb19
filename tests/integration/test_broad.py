"""Broad crawls of sites that link to each other and change: scope, budget, cash, and kills at any moment."""

from __future__ import annotations

import json
import random
import signal
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from crawlers.algorithms.ranking.adaptive_opic import AdaptiveOPIC
from crawlers.algorithms.ranking.page_scores import GONE
from crawlers.items import State
from tests.support.running import add_on
from tests.support.sites.server import Web, links

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.running import Crawl
    from tests.support.sites.server import Exchange

PAGES = 8  # of a site
NAMES = ("tagged", "dated", "plain", "far")
SETTINGS = {"SITE_DELAY_SECONDS": 0, "STORE_BATCH_SECONDS": 0.01, "TRAPS_ENABLED": 0, "RETRY_BACKOFF_SECONDS": 0.01}
OPEN = {**SETTINGS, "SCOPE": "all"}


class Town:
    """Sites whose pages change at every third request; one names its versions by tags, one by dates, two by nothing.

    One page vanishes, and one moves to another site. The site `far` calls itself localhost, so that it has a domain.
    """

    def __init__(self) -> None:
        self.web = Web(**{name: self._site(name) for name in NAMES})
        self.origins = {name: self.web[name].origin for name in NAMES}
        self.origins["far"] = self.origins["far"].replace("127.0.0.1", "localhost")
        self.responses: Counter[int] = Counter()  # by status, without those for robots.txt
        self.on_request: Callable[[], None] | None = None
        self._versions: Counter[str] = Counter()
        self.links = cache(self._links)

    def _links(self, title: str) -> dict[str, int]:
        """The URLs that the page links to in the version that its title names, with their number."""
        rng = random.Random(title)
        ways = [(rng.choice(NAMES), rng.randrange(PAGES)) for _ in range(rng.choice([2, 5, 9]))]
        if "/0 " in title:  # home pages lead everywhere
            ways += [(name, number) for name in NAMES for number in (0, 1)]
        return Counter(f"{self.origins[name]}/{number}" for name, number in ways)

    def _site(self, name: str) -> Any:
        async def respond(exchange: Exchange) -> None:
            if exchange.path == "/robots.txt":
                await exchange.page("none", 404)
                return
            if self.on_request is not None:
                self.on_request()
            path = "/0" if exchange.path == "/" else exchange.path
            requests = self._versions[name + path]
            self._versions[name + path] += 1
            status, headers, body = self._answer(name, path, requests // 3, exchange.request.headers)
            self.responses[status] += 1
            await exchange.page(body, status, **headers)

        return respond

    def _answer(self, name: str, path: str, version: int, headers_of_request: Any) -> tuple[int, dict[str, str], str]:
        if path == "/6" and version:
            return 404, {}, "it was here"
        if path == "/7" and name == "plain" and version:
            return 301, {"Location": f"{self.origins['dated']}/7"}, ""
        headers = {}
        if name == "tagged":
            headers["ETag"] = f'"{version}"'
            if headers_of_request.get("if-none-match") == headers["ETag"]:
                return 304, headers, ""
        if name == "dated":
            headers["Last-Modified"] = f"Sat, 0{version % 9 + 1} Jan 2000 00:00:{version // 9 % 60:02} GMT"
            if headers_of_request.get("if-modified-since") == headers["Last-Modified"]:
                return 304, headers, ""
        title = f"{name}{path} version {version}"
        hrefs = [url for url, count in self.links(title).items() for _ in range(count)]
        return 200, headers, links(*hrefs).replace("<title>Links", f"<title>{title}")

    def hosts(self, *names: str) -> list[str]:
        return [f"{self.origins[name]};2;;0" for name in names]


@pytest.fixture
def town():
    town = Town()
    with town.web:
        yield town


def total_cash(crawl: Crawl) -> float:
    """The sum of all cash that a resumed run would have."""
    scores = AdaptiveOPIC()
    ((totals,),) = crawl.query("SELECT totals FROM order_totals")
    scores.recall_totals(json.loads(totals))
    for page, queue, *record in crawl.query("SELECT page_id, queue, cash, history, visited, alias FROM importance"):
        scores.recall(page, queue, record)
    return scores.total_cash()


def check(crawl: Crawl, town: Town) -> None:
    """No cash is lost, the right pages wait, and each page has the links of its stored version."""
    assert total_cash(crawl) == pytest.approx(1.0, abs=1e-9)
    for state, queue, number in crawl.query(
        "SELECT state, queue, count(*) FROM page LEFT JOIN importance ON page_id = id GROUP BY 1, 2"
    ):
        # A page that vanished is looked for again; one that was never there is not.
        wanted = {State.WAITING: [0], State.DONE: [1], State.REFUSED: [GONE, 1]}.get(state, [GONE])
        assert queue in wanted, (State(state), number)
    crawled = {site for (site,) in crawl.query("SELECT site FROM site")}
    stored: dict[str, dict[str, int]] = {}
    for source, target, count in crawl.query(
        "SELECT s.id, t.url, l.count FROM link l JOIN page s ON s.id = l.source_id JOIN page t ON t.id = l.target_id"
    ):
        stored.setdefault(source, {})[target] = count
    for page, title in crawl.query(f"SELECT id, title FROM page WHERE state = {int(State.DONE)}"):
        wanted = {url: count for url, count in town.links(title).items() if url.rpartition("/")[0] in crawled}
        assert stored.pop(page, {}) == wanted, title
    assert not stored, "pages that are no more have links"
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
    crawl = crawl_in(
        scope, town.hosts("tagged", "dated"), spider="broad", PAGE_BUDGET=budget, **{**SETTINGS, "SCOPE": scope}
    )
    assert crawl.run().status == 0
    assert town.responses.total() == budget
    assert crawl.query("SELECT count(*) FROM pull") == [(budget,)]
    origins = {town.origins[name] for name in SCOPES[scope]}
    assert {
        site for (site,) in crawl.query("SELECT DISTINCT site FROM page p JOIN site s ON s.id = p.site_id")
    } == origins
    outside = {site for (site,) in crawl.query("SELECT DISTINCT site FROM external_url")}
    assert outside == set(town.origins.values()) - origins
    assert crawl.states == ["interrupted"]
    check(crawl, town)
    assert town.responses[304] > 5
    assert crawl.query("SELECT count(*) FROM page_change")[0][0] > 5
    left = crawl.query("SELECT DISTINCT p.state FROM page_change JOIN page p ON p.id = page_id")
    assert {int(State.DONE), int(State.REFUSED)} <= {state for (state,) in left}, "pages changed, and vanished"


def kill_at_request(crawl: Crawl, town: Town, rng: random.Random, heads: int) -> int:
    """Run it until the web receives a request that it leaves without a response; return the exit status."""
    run = crawl.start(STORE_BATCH_PAGES=rng.choice((1, 5, 20)), FRONTIER_HEAD_URLS=heads)
    left = rng.randint(15, 40)

    def count() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            run.kill()

    town.on_request = count
    status = run.wait().status
    town.on_request = None
    return status


def kill_before_commit(crawl: Crawl, town: Town, rng: random.Random, heads: int) -> int:
    """Run the crawl until it is about to commit a transaction; return the exit status."""
    where = {"ADDONS": add_on("KillBeforeCommit"), "KILL_BEFORE_COMMIT": rng.randint(8, 20)}
    return crawl.run(STORE_BATCH_PAGES=2, FRONTIER_HEAD_URLS=heads, **where).status


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
