"""A store as large as those that the panel must show without delay, and a crawl that goes on writing it.

Pages, links and pulls are made by SQL, in SQLite and PostgreSQL alike, because a crawl of 10^6 pages takes hours.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select, text, update

from crawlers.ranking.opic import OPICTotals
from crawlers.store.database import Database
from crawlers.store.schema.tables import (
    EndedPage,
    ExternalLinkRow,
    ExternalUrlRow,
    LinkContextRow,
    NewPage,
    PageLinks,
    PullRow,
    external_link,
    external_url,
    page,
)
from crawlers.store.writing.bulk_writer import write_changes
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.keys import url_key
from crawlers.urls.resolution import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from multiprocessing.queues import Queue
    from multiprocessing.synchronize import Event

WRITTEN_ID = 10**9  # above the numbers of all pages
LINKS_A_PAGE, NEW_A_PAGE, EXTERNAL_A_PAGE = 70, 6, 5  # as measured in crawls: see docs/architecture.md
LARGE = 1  # the number of the crawl with all pages; the others have a part of them
MISSIONS = {LARGE: "extlinks", 2: "sitegraph", 3: "news", 4: "topic", 5: "broad"}
PART = 5  # of the pages, in each of the other crawls
HOSTS = 5000  # to which external links lead
# As in the large crawl: read late, an address of another site, read early.
EXPLAINED = ("http://s7.test/page/1207006", "http://h77.test/page/77", "http://s7.test/page/606")
TEXT = "A sentence of a document about something that happened yesterday, and what comes of it. " * 8
TOTALS = OPICTotals(ticks=1e6, virtual=0.0, found=1e6, offset_new=0.0, offset_read=0.0, new=0.0, read=1e6)
_COUNTED = "WITH RECURSIVE n(n) AS (SELECT {begin} UNION ALL SELECT n + 1 FROM n WHERE n + 1 < {end}) "
# Of a hundred pages, eighty are done, two redirect, two are broken, six were rejected, and ten wait.
_PLACE = "n / {sites} % 100"
_KEY = "(n * 2654435761 % 4294967296)"  # as irregular as a hash, and different for each page
_OF_STORE = (
    _COUNTED.format(begin=1, end="{listed} + 1")
    + "INSERT INTO seed (id, site, start_url, name) SELECT n, 'http://s' || n || '.test', "
    "'http://s' || n || '.test/', 'Site ' || n FROM n",
    _COUNTED.format(begin=1, end="{pages} / 2 + 1")
    + f"INSERT INTO external_url (id, site, url, key) SELECT n, 'http://h' || (n % {HOSTS}) || '.test', "
    f"'http://h' || (n % {HOSTS}) || '.test/page/' || n, n FROM n",
    "INSERT INTO link_context VALUES (1, 'a text', '', 'main', '', 'a')",
    f"UPDATE id_block SET next = {2 * WRITTEN_ID}",  # for real crawls in the same store
)
# {{first}} is the number of pages in the crawls before, {{before}} that of sites.
_OF_CRAWL = (
    "INSERT INTO crawl (id, name, mission, state, started_at, manifest) VALUES ({crawl}, '{mission}', '{mission}', "
    "'{state}', 1.7e9, '{manifest}')",
    "INSERT INTO crawler_setting (crawl_id, name, value) VALUES ({crawl}, 'RULE', '{rule}')",
    "INSERT INTO worker (id, crawl_id, machine, process, version, state, joined_at, beat_at) VALUES "
    "({crawl}, {crawl}, 'bench', 1, '0', '{at_work}', 1.7e9, 1.7e9)",
    _COUNTED.format(begin=1, end="{sites} + 1")
    + "INSERT INTO site (id, crawl_id, seed_id, site, parallel, delay_s, robots_status, robots_text, worker_id) "
    "SELECT {before} + n, {crawl}, n, 'http://s' || n || '.test', 1, 1.0, 200, 'User-agent: *', {crawl} FROM n",
    _COUNTED.format(begin=1, end="{own} + 1") + "INSERT INTO page (id, site_id, key, url, variant, level, hops, "
    "priority, state, reason, found_at, fetched_at, state_at, status, moved_to, content_hash, title, content_type, "
    f"size_bytes, latency_s) SELECT {{first}} + n, {{before}} + 1 + n % {{sites}}, {_KEY}, "
    "'http://s' || (1 + n % {sites}) || '.test/page/' || n, 0, "
    f"n / {{sites}} % 9, 0, 0.0, CASE WHEN {_PLACE} < 80 THEN 1 WHEN {_PLACE} < 82 THEN 2 "
    f"WHEN {_PLACE} < 84 THEN 3 WHEN {_PLACE} < 90 THEN 5 ELSE 0 END, "
    f"CASE WHEN {_PLACE} BETWEEN 82 AND 83 THEN 'status 404' WHEN {_PLACE} BETWEEN 84 AND 86 "
    f"THEN 'robots_disallows' WHEN {_PLACE} BETWEEN 87 AND 89 THEN 'trap_content 9 /' || (n / 999) END, "
    f"1.7e9 + n / 100, CASE WHEN {_PLACE} < 84 THEN 1.7e9 + n / 100 END, 1.7e9, CASE WHEN {_PLACE} < 80 THEN 200 "
    f"WHEN {_PLACE} < 82 THEN 301 WHEN {_PLACE} < 84 THEN 404 END, "
    f"CASE WHEN {_PLACE} BETWEEN 80 AND 81 THEN {{first}} + n - {{sites}} END, CASE WHEN {_PLACE} < 80 THEN "
    "'0000000000000000000000' || (CASE WHEN n / {sites} % 50 < 2 THEN 1000000000 + n / 10000 "
    "ELSE 2000000000 + n END) END, 'Title of page ' || (n / 200), 'text/html', n % 99991, n % 7919 / 1000.0 FROM n",
    _COUNTED.format(begin=0, end="{links}")
    + "INSERT INTO link SELECT p.id, {first} + 1 + (p.id * 31 + n * {stride}) % {own},"
    " 1 FROM page p CROSS JOIN n WHERE p.state = 1 AND p.id > {first} ORDER BY 1, 2",
    "INSERT INTO external_link SELECT id, 1 + (id * 7) % ({pages} / 2 - 1), 1, 1 FROM page WHERE state = 1 "
    "AND id > {first}",
    "INSERT INTO external_link SELECT id, 1 + (id * 7 + 99) % ({pages} / 2 - 1), 1, 1 FROM page WHERE state = 1 "
    "AND id % 4 = 0 AND id > {first}",
    "INSERT INTO bad_link (page_id, raw, reason, count) SELECT id, 'http://[' || id, 'not_a_url', 1 FROM page "
    "WHERE state = 1 AND id % 50 = 0 AND id > {first}",
    "INSERT INTO pull (id, site_id, page_id, reward, ended_at, worker_id) SELECT id, site_id, id, id % 3, fetched_at, "
    "{crawl} FROM page WHERE state = 1 AND id > {first}",
)
_SITEMAPS = 20  # of a site, beside their index
_OF_MISSION: dict[str, tuple[str, ...]] = {
    "extlinks": ("INSERT INTO link_features (page_id, features) SELECT page_id, 'eDEe' FROM pull",),  # of all links
    "sitegraph": (
        _COUNTED.format(begin=0, end=_SITEMAPS + 1)
        + "INSERT INTO sitemap (site_id, key, url, address, number, index_key, state, status, kind, urls, outside, "
        "cut, read_at) SELECT s.id, n, s.site || '/sitemap' || n || '.xml', s.site, n, CASE WHEN n > 0 THEN 0 END, "
        "CASE WHEN n = 9 THEN 2 ELSE 1 END, CASE WHEN n = 9 THEN 404 ELSE 200 END, "
        "CASE WHEN n > 0 THEN 'sitemap' ELSE 'sitemap index' END, CASE WHEN n > 0 THEN 99 ELSE 0 END, 0, 0, 1.7e9 "
        "FROM site s CROSS JOIN n WHERE s.crawl_id = {crawl}",
        _COUNTED.format(begin=1, end="{own} + 1")  # a quarter of the URLs lead to no page
        + "INSERT INTO sitemap_url (site_id, key, url, sitemap_key, modified_at) SELECT {before} + 1 + n % {sites}, "
        f"{_KEY} + CASE WHEN n / {{sites}} % 4 = 3 THEN 4294967296 ELSE 0 END, "
        "'http://s' || (1 + n % {sites}) || '.test/page/' || n || "
        f"CASE WHEN n / {{sites}} % 4 = 3 THEN '?only' ELSE '' END, 1 + n / {{sites}} % {_SITEMAPS}, 1.7e9 FROM n",
    ),
    "news": (
        "INSERT INTO document (page_id, site_id, url, title, text, published_at, published, authors, language, "
        "extractor, text_hash, version, stored_at) SELECT id, site_id, url, title || ' of ' || id, "
        "'{text}' || id, 1.7e9 + id, '2023-11-14T22:13:20+00:00', '[\"A. Author\"]', CASE id % 3 WHEN 0 THEN 'de' "
        "ELSE 'en' END, 'json-ld', content_hash, 1, 1.7e9 + id FROM page WHERE state = 1 AND id > {first} "
        "AND id % 2 = 0",
        "INSERT INTO poll (page_id, site_id, kind, due_at, polled_at, polls, failures, new_items, rate) SELECT id, "
        "site_id, CASE WHEN id % 40 = 1 THEN 'feed' WHEN id % 40 = 3 THEN 'sitemap' ELSE 'article' END, 1.8e9, 1.7e9, "
        "9, 0, 9, '[]' FROM page WHERE state = 1 AND id > {first}",
        "INSERT INTO news_score (page_id, site_id, queue, score, value) SELECT id, site_id, "
        "CASE state WHEN 0 THEN 0 ELSE 1 END, id % 99, 1.0 FROM page WHERE state < 2 AND id > {first}",
        _COUNTED.format(begin=0, end="{sites} * 20")
        + "INSERT INTO url_rule (domain, regex, weight, origin, support, precision_low, learnt_at) SELECT "
        "'s' || (1 + n % {sites}) || '.test', '/page/' || (n / {sites}) || '[0-9]+', 0.8, 'learnt', 40, 0.75, 1.7e9 "
        "FROM n",
        _COUNTED.format(begin=1, end=10_001)
        + "INSERT INTO iteration (crawl_id, number, began_at, ended_at, fit, not_fit, polls, errors, documents, "
        "duplicates, total_documents) SELECT {crawl}, n, 1.7e9 + 60 * n, 1.7e9 + 60 * n + 60, 20, 5, 5, 1, 10, 1, "
        "10 * n FROM n",
        _COUNTED.format(begin=1, end=100_001)
        + "INSERT INTO alarm (crawl_id, kind, subject, message, raised_at, ended_at) SELECT {crawl}, 'dead feed', "
        "'http://s' || (1 + n % {sites}) || '.test/feed/' || n, 'timeout; open it in a browser', 1.7e9 + n, "
        "CASE WHEN n % 100 > 0 THEN 1.75e9 END FROM n",
    ),
    "topic": (
        "INSERT INTO topic_page (page_id, similarity, terms) SELECT id, id % 9973 / 9973.0, '{{}}' FROM page "
        "WHERE state = 1 AND id > {first}",
        "INSERT INTO relevance (page_id, site_id, queue, score, anchor, level, rank) SELECT id, site_id, "
        "CASE state WHEN 0 THEN 0 ELSE -1 END, id % 997 / 997.0, 0.5, level, 0.0 - id % 9 FROM page "
        "WHERE state < 2 AND id > {first}",
    ),
    "broad": (
        "INSERT INTO importance (page_id, site_id, queue, score, cash, history, visited, alias) SELECT id, site_id, "
        "state, id % 997, id % 9973 / 9973.0, 1.0, id - {first}, 0 FROM page WHERE state < 2 AND id > {first}",
        "INSERT INTO crawler_setting (crawl_id, name, value) VALUES ({crawl}, 'ORDER', 'aopic'), "
        "({crawl}, 'AOPIC_WINDOW_VISITS', '4.0')",
        "INSERT INTO order_totals (crawl_id, worker_id, totals, base) VALUES ({crawl}, {crawl}, '{totals}', '[0, 0]')",
    ),
}


class Size(NamedTuple):
    """How much is in the store."""

    pages: int  # of the large crawl
    links: int  # internal ones of each page that was read
    sites: int
    listed: int  # sites in the list of the store


def first_document(size: Size) -> int:
    """Return the number of the first document of the news crawl."""
    place = list(MISSIONS.values()).index("news") - 1  # among the crawls that are not large
    first = size.pages + place * (size.pages // PART)
    return first + 2 - first % 2


def build(database: Database, size: Size) -> None:
    """Fill an empty store, and print how long that took."""
    began = time.perf_counter()
    _run(database, _OF_STORE, size._asdict())
    first = 0
    for number, mission in MISSIONS.items():
        is_large = number == LARGE
        own = size.pages if is_large else size.pages // PART
        values = {
            **size._asdict(),
            "crawl": number,
            "mission": mission,
            "manifest": json.dumps({"command": {"arguments": {}, "settings": {}, "left_out": []}}),
            "state": "running" if is_large else "finished",
            "at_work": "active" if is_large else "left",
            "rule": "gittins" if mission == "extlinks" else "best",
            "own": own,
            "first": first,
            "before": (number - 1) * size.sites,
            "stride": max(1, own // size.links - 7),
            "text": TEXT,
            "totals": json.dumps(TOTALS),
        }
        _run(database, (*_OF_CRAWL, *_OF_MISSION.get(mission, ())), values)
        first += own
    _make_findable(database)
    if not database.is_sqlite:  # the sequence does not know these numbers
        with database.write() as connection:
            connection.execute(text("SELECT setval(pg_get_serial_sequence('pull', 'id'), max(id)) FROM pull"))
            connection.execute(text("SELECT setval(pg_get_serial_sequence('worker', 'id'), max(id)) FROM worker"))
    database.collect_statistics()
    print(f"built in {time.perf_counter() - began:.0f} s", flush=True)


def _run(database: Database, statements: Sequence[str], values: Mapping[str, object]) -> None:
    for statement in statements:
        with database.write() as connection:
            connection.execute(text(statement.format(**values).replace(":", "\\:")))


def _make_findable(database: Database) -> None:
    """Give the URLs `EXPLAINED` the keys by which they are looked up, and those of other sites links to them."""
    with database.write() as connection:
        for url in EXPLAINED:
            target = resolve(url, "")
            connection.execute(update(page).where(page.c.url == url).values(key=target.key))
            known = select(external_url.c.id).where(external_url.c.url == url)
            for old in connection.execute(known).scalars().all():
                new = url_key(url)
                connection.execute(update(external_url).where(external_url.c.id == old).values(id=new))
                connection.execute(update(external_link).where(external_link.c.url_id == old).values(url_id=new))


@contextmanager
def written(url: str, pages_per_s: int) -> Iterator[None]:
    """Let another process store the results of so many pages a second during the block; print how many it stored.

    The block begins when it has begun. With 0 pages nobody writes.
    """
    if not pages_per_s:
        yield
        return
    context = multiprocessing.get_context("spawn")
    is_over, stored = context.Event(), context.Queue()
    writer = context.Process(target=_write_on, args=(url, pages_per_s, is_over, stored), daemon=True)
    writer.start()
    stored.get()
    began = time.monotonic()
    try:
        yield
    finally:  # it needs the events of this process until its end
        is_over.set()
        writer.join()
    if writer.exitcode:
        raise SystemExit("nobody wrote meanwhile: the process that stores pages failed")
    print(f"the crawl stored {stored.get() / (time.monotonic() - began):.1f} pages a second", flush=True)


def _write_on(url: str, pages_per_s: int, is_over: Event, stored: Queue[int]) -> None:
    """Store each second the results of so many pages in one transaction, as a crawl does, until *is_over*.

    A page that was found earlier ends, with 70 links, of which 6 are new pages, and 5 external links. Puts 0 into
    *stored* at the beginning, and then the number of pages that were stored.
    """
    database, batches = Database(url), 0
    with database.read() as connection:
        last = connection.execute(text("SELECT max(id) FROM page")).scalar_one()
    first = found = max(WRITTEN_ID, last + 1)
    stored.put(0)
    due = time.monotonic()
    while not is_over.wait(max(0.0, due - time.monotonic())):
        due += 1.0
        changes = ChangeSet()
        if found == first:
            changes.add(*(_new(found + number) for number in range(pages_per_s)))
            found += pages_per_s
        for page_id in range(first, first + pages_per_s):
            new = range(found, found + NEW_A_PAGE)
            found += NEW_A_PAGE
            changes.add(*map(_new, new), _ended(page_id))
            old = ((page_id * 7919 + place) % 1_000_000 + 1 for place in range(LINKS_A_PAGE - NEW_A_PAGE))
            changes.add(PageLinks(page_id, dict.fromkeys((*new, *old), 1)))
            for place in range(EXTERNAL_A_PAGE):
                number = page_id * EXTERNAL_A_PAGE + place
                host = f"http://h{number % HOSTS}.test"
                changes.add(ExternalUrlRow(number, host, f"{host}/new/{number}", number))
                changes.add(LinkContextRow(number % 1000, f"text {number % 1000}", "", "main", "", "a"))
                changes.add(ExternalLinkRow(page_id, number, number % 1000, 1))
            changes.add(PullRow(1, page_id, 1.0, 1.8e9, 1))
        first += pages_per_s
        with database.write() as connection:
            write_changes(connection, changes)
        batches += 1
    database.close()
    stored.put(batches * pages_per_s)


def _new(page_id: int) -> NewPage:
    url = f"http://s1.test/new/{page_id}"
    return NewPage(page_id, 1, 10**12 + page_id, url, 0, 5, 0, 0.0, 0, None, None, 1, 1.8e9, 1.8e9)


def _ended(page_id: int) -> EndedPage:
    kinds = (200, None, f"{page_id:032d}", None, f"Title {page_id}", None, "text/html", 9999, None, None, None, 0.1)
    return EndedPage(page_id, 1, None, 1, 1.8e9, 1.8e9, *kinds)
