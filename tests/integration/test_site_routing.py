"""No query of a worker crosses sites, except a few that are named here and in docs/explanation/scale.md.

Two workers crawl sites that link to each other. Each statement that they execute from their first request until their
writers are closed is analysed: if tables are divided by site, does it name the sites that it concerns; and does the
worker hold these?
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from typing import TYPE_CHECKING

from crawlers.storage.schema.rows import row_types, write_of
from tests.support.executed_statements import recorded
from tests.support.processes import until
from tests.support.running import Crawl
from tests.support.site_routing import DIVIDED_BY, crossed
from tests.support.sites.server import Web, links

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.executed_statements import Executed
    from tests.support.sites.server import Exchange

# Statements that don't name the sites that they concern, by function.
ABOUT_ALL_SITES = {
    "workers._count": "a round: whether something waits on a site that nobody holds",
    "workers.claim": "a round: these sites, to claim them",
    "workers._pulls_of_others": "a round: the pulls of the other workers, for the rule that chooses sites",
    "crawls.is_waiting": "the last worker: whether the crawl is finished",
    "crawls.drop_anchors": "the last worker: texts of links that are not broken",
    "levels.correct_levels": "the elected worker: levels of a crawl in another order",
    "levels._levels": "likewise",
}
# Statements that name messages by their own number, or by their page; messages are divided by the site of the target.
OF_MESSAGES = {
    "ReceivedLink": "the link of a message that is taken up",
    "TakenMessage": "the message",
    "message_tables._drop_old_links": "a changed page: the links that it sent before",
}
# Statements that name pages or sites of other workers, by function or type of rows; a message causes each of them.
FOREIGN = {
    "ReceivedLink": "a link belongs to the page that shows it, which is its sender's",
    "LinkChangeRow": "likewise",
    "LinkAnchorRow": "likewise",
    "LinkTextRow": "likewise",
    "MovedPage": "the target of a redirect, which its source gets",
    "sql_store.numbers": "the numbers of pages to which a page that is visited again links",
    "sql_store.waiting_elsewhere": "likewise, if it is unchanged",
}
SETTINGS = {
    "SITE_DELAY_SECONDS": 0.01,
    "STORE_BATCH_SECONDS": 0.02,
    "RULE_WAIT_SECONDS": 0,
    "RETRY_REST_TIMES": 1000,  # until both workers have sites
    "WORKERS": 2,
    "EXTENSIONS": json.dumps({"tests.support.executed_statements.ExecutedStatements": 0}),
}
ROWS = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")  # statements that concern rows begin so
OF_CLAIMED_SITES = {
    f"sql_store.{name}"
    for name in ("numbers_known", "known_of", "retries", "best_of", "scored", "unscored", "due", "bases")
}
NAMES = "abcd"
PAGES = 20


class Sites:
    """Sites that link to each other, and whose pages change; a page of each moves to another site.

    Pages other than home pages are not available before *is_open*.
    """

    def __init__(self) -> None:
        self.is_open = threading.Event()
        self._visits: Counter[str] = Counter()
        self.web = Web(**dict.fromkeys(NAMES, self._respond))
        self.origins = [self.web[name].origin for name in NAMES]

    async def _respond(self, exchange: Exchange) -> None:
        if exchange.path in ("/robots.txt", "/sitemap.xml"):
            await exchange.page("none", 404)
            return
        number = int(exchange.path[1:] or 0)
        if number and not self.is_open.is_set():
            await exchange.page(status=503, Retry_After=1)
            return
        url = exchange.site.origin + exchange.path
        version = self._visits[url] // 3
        self._visits[url] += 1
        if number == 7:
            others = [origin for origin in self.origins if origin != exchange.site.origin]
            await exchange.page(status=301, Location=f"{others[0]}/3")
            return
        near = {2 * number + 1, 2 * number + 2, number + version} & set(range(PAGES))
        there = [f"{origin}/{number + 1}" for origin in self.origins if number + 1 < PAGES]
        await exchange.page(links(*(f"/{n}" for n in near), *there, "http://else.test/", "http://bad host/"))


def crawled(folder: Path, mission: str, **settings: object) -> Crawl:
    """Crawl the sites with two workers, each of which has sites before any gets far."""
    sites = Sites()
    with sites.web, Crawl(folder, sites.origins, spider=mission, **SETTINGS, **settings) as crawl:
        run = crawl.start()
        holders = "SELECT DISTINCT worker_id FROM site WHERE worker_id IS NOT NULL"
        until(lambda: len(crawl.query(holders)) == 2, "sites of both workers")
        sites.is_open.set()
        ended = run.wait()
        assert ended.status == 0, ended.log
        return crawl


def kind_of(executed: Executed) -> str:
    """Return the type of the rows that a statement writes; if a function writes or reads them, its name."""
    return executed.function if executed.function in OF_MESSAGES else executed.row or executed.function


def named(executed: Executed) -> Iterator[tuple[str, int]]:
    """Yield the pages and sites that a statement names: ("page" or "site", number)."""
    for values in executed.values:
        if executed.row:
            kind = next(one for one in row_types() if one.__name__ == executed.row)
            columns = list(write_of(kind).types)
            divided = DIVIDED_BY.get(write_of(kind).table.name, ())
            column = next((name for name in divided if name in columns), None)
            if column is not None:
                what = "site" if column == "site_id" else "page"
                yield from ((what, row[columns.index(column)]) for row in json.loads(values[0]))
        elif isinstance(values, dict):
            yield from (("site", values[name]) for name in ("site", "site_id_1") if name in values)
            yield from (("page", values[name]) for name in ("page",) if name in values)
            if executed.function in ("sql_store.entries", "sql_store.waiting_elsewhere"):
                yield from (("page", number) for number in json.loads(values["keys"]))
            if executed.function in OF_CLAIMED_SITES and "keys" in values:
                yield from (("site", number) for number in json.loads(values["keys"]))


def check(crawl: Crawl, about_all: set[str], foreign: set[str]) -> set[str]:
    """Check that only these statements cross sites, or name foreign pages; return all functions and types of rows."""
    dialect = "postgresql" if crawl.server else "sqlite"
    sites = dict(crawl.query("SELECT id, site_id FROM page"))
    found = set()
    workers = list(recorded(crawl.folder))
    assert len(workers) == 2
    for held, statements in workers:
        for executed in statements:
            if not executed.statement.startswith(ROWS):
                continue
            found.add(kind_of(executed))
            tables = crossed(executed.statement, dialect)
            assert not tables or kind_of(executed) in about_all, (executed.function, tables, executed.statement)
            numbers = {sites.get(number) if what == "page" else number for what, number in named(executed)}
            assert numbers <= held or kind_of(executed) in foreign, (executed.function, executed.statement, numbers)
    return found


def test_no_query_of_a_worker_concerns_sites_that_it_does_not_hold(tmp_path):
    crawl = crawled(tmp_path, "extlinks", PAGE_BUDGET=1000, RULE="gittins", ORDER="learnt")
    found = check(crawl, set(ABOUT_ALL_SITES), set())
    assert {"NewPage", "EndedPage", "PageLinks", "ExternalLinkRow", "sql_store.known_of", "sql_store.waiting"} <= found


def test_queries_of_a_broad_crawl_concern_other_sites_only_for_messages(tmp_path, postgresql_url):
    crawl = crawled(tmp_path, "broad", PAGE_BUDGET=500, DATABASE_URL=postgresql_url)
    found = check(crawl, {*ABOUT_ALL_SITES, *OF_MESSAGES}, set(FOREIGN))
    assert {"Message", "ReceivedLink", "TakenMessage", "message_tables._drop_old_links", "sql_store.numbers"} <= found
