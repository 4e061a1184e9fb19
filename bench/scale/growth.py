"""Measures whether a store that has grown large still takes new pages, held against an empty one.

    python -m bench.scale.growth [FOLDER] [--documents 2000000] [--links 100000000]

The large store is what a crawl of 5,000 news sites would have left (see `bench.scale.growth_store`), with a known
URL for every ten links; it is made in FOLDER if it is not there, and stays there. The empty one knows of each site
the 64 URLs that its pages link to. In turns, each takes pages as a news crawl does: lease; reading the page, an
article's text and 70 links of which 6.5 are new; scores paid on, every tenth a document, judged against all others;
until all is committed. Nothing is downloaded. The clock stands still while the driver makes up pages, and reading
has one of its own: "stored" is all but reading, "taken" is all.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.scale import growth_store as made
from bench.speed.frontier_memory import resident_bytes
from crawlers.algorithms.bandits.site_rules import RoundRobin
from crawlers.algorithms.dedup.document_fingerprints import document_fingerprint
from crawlers.algorithms.ranking.page_orders import ORDERS, OrderOptions
from crawlers.algorithms.urls.link_resolver import LinkResolver
from crawlers.extraction.response import ResponseReader, WebResponse
from crawlers.frontier.backends.sql import SqlFrontier
from crawlers.frontier.protocols import Decision, SiteState
from crawlers.items import QueueSlot
from crawlers.options import SETTINGS
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.database import Database
from crawlers.storage.news.document_copies import Duplicates
from crawlers.storage.news.document_keys import DocumentKeys
from crawlers.storage.news.documents import add_document
from crawlers.storage.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.frontier.protocols import Lease
    from crawlers.items import Article, DocumentFingerprint, Page, Target

LINKS_A_PAGE = 10  # known URLs are a tenth of the links
BEGUN = made.Shape(pages_a_site=64, documents=0, links=0)
FETCHED_LINKS, WAITING_LINKS = 25, 38  # of a page, to known URLs; 6 or 7 more are new
DOCUMENT_EVERY = 10
AT_ONCE = 64  # leases open at a time
PAGES, ROUNDS = 1_000, 25  # of a round; before these, each store takes a page of every site
FIRST_NEW = 100_000_000  # number of the first URL that the store can't know
MIN_RATIO = 0.70
TABLES = ("page", "news_score", "link", "document", "document_key", "document_band", "poll")
SEARCHED = ((100_000,), (10_000,), (1_000,), (500, 600), (20,))  # words, numbered from the most frequent one


class Speed(NamedTuple):
    """Of some pages: how many were stored a second, what that cost, and how many were stored and read a second."""

    stored: float
    cpu_ms: float
    taken: float


class Stopwatch:
    """Sums up the time that is spent within it."""

    def __init__(self) -> None:
        self.wall_s = self.cpu_s = 0.0

    def __enter__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        self.wall_s += time.perf_counter() - self._wall
        self.cpu_s += time.process_time() - self._cpu


class Growing:
    """The crawl in the store at *path*, of that *shape*, resumed."""

    def __init__(self, path: Path, shape: made.Shape) -> None:
        self._shape = shape
        start = time.perf_counter()
        self.database = Database(f"sqlite:///{path}")
        crawl = made.begin(self.database)
        with self.database.read() as connection:
            last = connection.exec_driver_sql("SELECT next FROM id_block WHERE name = 'page'").scalar_one()
        self._rng = random.Random(last)  # what another run added is not to come again
        self._new = FIRST_NEW + last
        self._writer = Writer(self.database)
        order = ORDERS["fit*opic"](OrderOptions())
        limits = {"cache_urls": SETTINGS["FRONTIER_CACHE_URLS"].default}
        self._frontier = SqlFrontier(self.database, self._writer, crawl.id, RoundRobin(), order, **limits)
        # Not in the order in which their pages are numbered, which would be kind to the caches.
        for row in random.Random(0).sample(crawl.sites, len(crawl.sites)):
            self._frontier.open_site(SiteState(row.id, row.site, row.parallel, row.delay_s), 0.0)
        self.open_s = time.perf_counter() - start
        self._first_site = crawl.sites[0].id
        self._keys = DocumentKeys(self.database, self._writer)
        self._duplicates = Duplicates(self.database, self._keys, self._writer)
        self._texts = self._generated(made.GeneratedTexts(last))
        self._reader = ResponseReader(LinkResolver(), frozenset({"a"}), frozenset({"text/html"}))
        self._taken = 0
        self._now = 1.0

    @staticmethod
    def _generated(texts: made.GeneratedTexts) -> Iterator[tuple[str, str]]:
        while True:
            yield from texts.some(PAGES // DOCUMENT_EVERY)

    def take(self, pages: int) -> Speed:
        """Take so many pages, until the last is committed."""
        stored, read = Stopwatch(), Stopwatch()
        left = pages
        while left:
            with stored:
                leases = self._frontier.lease(self._now, min(AT_ONCE, left))
            assert leases, "nothing waits"
            answers = [(lease, *self._answer(lease)) for lease in leases]
            with read:
                pages_read = [self._reader.read(answer, lease.id, lease.level, 0.0) for lease, answer, _ in answers]
            with stored:
                for (lease, _, found), page in zip(answers, pages_read, strict=True):
                    self._now += made.DELAY_S / (made.SITES // 2)  # so that no host keeps the crawl waiting
                    unseen = self._frontier.unseen((target for target, _ in page.links), lease.level + 1)
                    changes = ChangeSet()
                    if found is not None:
                        self._store(lease, page, changes, *found)
                    slots = {target.key: _place(target) for target in unseen}
                    self._frontier.acknowledge(lease, Decision(page, slots, changes=changes), self._now)
            left -= len(leases)
        with stored:
            self._writer.flush()
        both = stored.wall_s + read.wall_s
        return Speed(pages / stored.wall_s, 1000 * stored.cpu_s / pages, pages / both)

    def _answer(self, lease: Lease) -> tuple[WebResponse, tuple[Article, object] | None]:
        """What the web answers: a page, and its article if it is one."""
        rng, shape = self._rng, self._shape
        site = lease.site_id - self._first_site
        numbers = [*range(FETCHED_LINKS), *rng.sample(range(shape.fetched, shape.pages_a_site), WAITING_LINKS)]
        numbers += range(self._new, self._new + 6 + self._taken % 2)
        self._new = numbers[-1] + 1
        self._taken += 1
        title, text = next(self._texts)
        links = (f'<li><a href="{made.target(site, number).url}">{made.TITLE}</a></li>' for number in numbers)
        html = f"<html><title>{made.TITLE}</title><ul>{''.join(links)}</ul><h1>{title}</h1><p>{text}</p></html>"
        answer = WebResponse(lease.url, 200, html.encode(), made.CONTENT_TYPE)
        if self._taken % DOCUMENT_EVERY:
            return answer, None
        article = made.article(title, text)
        return answer, (article, document_fingerprint(lease.url, article))  # which the pool of processes makes

    def _store(
        self, lease: Lease, page: Page, changes: ChangeSet, article: Article, fingerprint: DocumentFingerprint
    ) -> None:
        """Add the rows of a document, as `ArticlePolicy` does."""
        assert self._duplicates.same_bytes(lease.id, page.url, page.content_hash) is None
        copy = self._duplicates.judge(lease.id, page.url, article, changes, fingerprint, page.content_hash)
        assert copy is None
        add_document(changes, lease.id, lease.site_id, page.url, article, fingerprint, self._now, previous=None)

    def close(self) -> None:
        self._writer.close()
        self.database.close()


def _place(target: Target) -> QueueSlot:
    queue = made.QUEUES_OF_TEN[int(target.url.split("/")[6]) % 10]
    return QueueSlot(queue, made.FACTORS[queue])


def print_sizes(database: Database) -> None:
    """Print what each table takes, its indexes included."""
    # "aggregate" makes dbstat add up the pages of a table by itself, which is quicker; then pageno is their number,
    # and pgsize no longer true beyond 2 GB.
    statement = (
        "SELECT d.name, m.tbl_name, d.pageno * p.page_size "
        "FROM dbstat AS d JOIN sqlite_master AS m ON m.name = d.name, pragma_page_size AS p WHERE d.aggregate = TRUE"
    )
    with database.read() as connection:
        parts = connection.exec_driver_sql(statement).all()
        print("\n| table | rows | MB | of these its indexes | bytes a row |\n|---|--:|--:|--:|--:|")
        for table in TABLES:
            rows = connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one()
            own = sum(size for part, _, size in parts if part == table)
            total = sum(size for _, of, size in parts if of == table)
            cells = f"{total / 1e6:,.0f} | {(total - own) / 1e6:,.0f} | {total / max(rows, 1):,.1f}"
            print(f"| {table} | {rows:,} | {cells} |", flush=True)
            if table == "document":
                text = sum(size for _, of, size in parts if of.startswith("document_text"))
                print(f"| full text of documents | {rows:,} | {text / 1e6:,.0f} | | {text / max(rows, 1):,.1f} |")
    print(f"| **all** | | {sum(size for _, _, size in parts) / 1e6:,.0f} | | |\n")


def print_searches(database: Database, words: list[str]) -> None:
    """Print how long the ten best documents take to be found, by how frequent the words are."""
    matching = "FROM document_text WHERE document_text MATCH ?"
    print("| query | documents | ms, the ten best | ms, to count them |\n|---|--:|--:|--:|")
    with database.read() as connection:
        for ranks in SEARCHED:
            query = " ".join(f'"{words[rank]}"' for rank in ranks)
            found, times = 0, []
            for statement in (f"SELECT rowid {matching} ORDER BY rank LIMIT 10", f"SELECT count(*) {matching}"):
                start = time.perf_counter()
                found = connection.exec_driver_sql(statement, (query,)).all()[0][0]
                times.append(1000 * (time.perf_counter() - start))
            label = "words" if len(ranks) > 1 else "word"
            label = f"{label} number {' and '.join(f'{rank:,}' for rank in ranks)}"
            print(f"| {label} | {found:,} | {times[0]:,.1f} | {times[1]:,.1f} |", flush=True)


def opened(folder: Path, name: str, shape: made.Shape, seed: int) -> Growing:
    """The store of that *shape*, made if need be, open; prints what that took."""
    path = folder / f"{name}-{shape.documents}-{shape.links}.sqlite"
    if not path.exists():
        part = path.with_suffix(".part")
        print(f"making {path.name}", flush=True)
        # Elsewhere, so that what it leaves in memory isn't taken for that of the crawl.
        process = get_context("spawn").Process(target=made.fill, args=(part, shape, seed))
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit(process.exitcode)
        part.rename(path)
    before = resident_bytes()
    store = Growing(path, shape)
    grown_mb = (resident_bytes() - before) / 1e6
    size_gb = path.stat().st_size / 1e9
    print(f"{name}: {size_gb:.2f} GB, opened in {store.open_s:.1f} s, {grown_mb:,.0f} MB of memory", flush=True)
    return store


def in_turns(stores: dict[str, Growing]) -> dict[str, float]:
    """Let the stores take pages in turns; print it and return the medians."""
    heads = " | ".join(f"{name}: stored/s | CPU ms a page | taken/s" for name in stores)
    print(f"\n| round | {heads} | ratio, stored | ratio, taken |\n|--:|" + "--:|--:|--:|" * len(stores) + "--:|--:|")
    rounds = []
    for number in range(ROUNDS + 1):
        speeds = {name: store.take(PAGES if number else made.SITES) for name, store in stores.items()}
        figures = {f"{what}_{name}": value for name, speed in speeds.items() for what, value in speed._asdict().items()}
        figures["ratio_stored"] = figures["stored_large"] / figures["stored_empty"]
        figures["ratio_taken"] = figures["taken_large"] / figures["taken_empty"]
        cells = " | ".join(f"{one.stored:,.0f} | {one.cpu_ms:.2f} | {one.taken:,.0f}" for one in speeds.values())
        print(
            f"| {number or 'first'} | {cells} | {figures['ratio_stored']:.2f} | {figures['ratio_taken']:.2f} |",
            flush=True,
        )
        rounds.append(figures)
    return {name: round(statistics.median(one[name] for one in rounds[1:]), 2) for name in rounds[0]}


def measure(folder: Path, documents: int, links: int) -> None:
    large = made.Shape(links // LINKS_A_PAGE // made.SITES, documents, links)
    stores = {
        name: opened(folder, name, shape, seed)
        for seed, (name, shape) in enumerate((("large", large), ("empty", BEGUN)), start=1)
    }
    gc.collect()
    gc.freeze()
    medians = in_turns(stores)
    database = stores["large"].database
    print_sizes(database)
    print_searches(database, made.GeneratedTexts(1).words)
    figures = {"bench": "growth", "documents": documents, "links": links, "pages": large.pages}
    print(json.dumps(figures | medians | {"asked_for": MIN_RATIO, "open_s": round(stores["large"].open_s, 1)}))
    for store in stores.values():
        store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER")
    parser.add_argument("--documents", type=int, default=2_000_000)
    parser.add_argument("--links", type=int, default=100_000_000)
    options = parser.parse_args()
    if options.links < LINKS_A_PAGE * BEGUN.pages:
        parser.error(
            f"--links: at least {LINKS_A_PAGE * BEGUN.pages}, so that every site has the URLs that pages link to"
        )
    if options.documents > made.FETCHED_SHARE * options.links // LINKS_A_PAGE:
        parser.error("--documents: more than there are fetched pages")
    if options.folder is not None:
        measure(options.folder, options.documents, options.links)
        return
    with tempfile.TemporaryDirectory(prefix="bench-growth-") as folder:
        measure(Path(folder), options.documents, options.links)


if __name__ == "__main__":
    main()
