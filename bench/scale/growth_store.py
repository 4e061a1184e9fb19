"""Generates the store that a long news crawl would have left: pages, scores, links, documents, keys.

Numbered like this, every site has pages from 0; its home page is the first, and the first two fifths were fetched. Page
numbers of the store run over all sites in turn, seven pages at a time, as a crawl of many sites meets them.
"""

from __future__ import annotations

import random
import sqlite3
import time
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from crawlers.algorithms.dedup.document_fingerprints import document_fingerprint
from crawlers.algorithms.dedup.min_hash import BANDS
from crawlers.algorithms.ranking.news_scores import ARCHIVE, FIT
from crawlers.algorithms.ranking.page_scores import GONE, OTHER, REVISIT
from crawlers.algorithms.urls.keys import page_key
from crawlers.items import Article, State, Target
from crawlers.storage import crawls
from crawlers.storage.database import Database
from crawlers.storage.site_rows import SiteRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SITES = 5_000
FOUND_AT_ONCE = 7  # pages of a site that have neighbouring numbers: they were found on one page
FETCHED_SHARE = 0.4
POLLS = 4  # a site: pages that come back, some day
KEYS_A_DOCUMENT = 3.5  # its URL, its text, its bytes, and every second time its canonical URL
BEGAN_AT, SOME_DAY = 1.7e9, 4e9
DELAY_S = 1.0
QUEUES_OF_TEN = (FIT, ARCHIVE, ARCHIVE, *[OTHER] * 7)
FACTORS = {FIT: 1.0, ARCHIVE: 0.01, OTHER: 0.01, GONE: 0.01, REVISIT: 0.01}

TITLE, CONTENT_TYPE = "What happened yesterday in a town", "text/html; charset=utf-8"
VOCABULARY = 200_000
WORDS = (170, 290)  # of a text, the least and the most: 1.1 to 2.1 KB
PRINTS = 4_000  # real bands that documents are given in turn; to make two million would take an hour
_LETTERS = "aeiouybcdfghklmnprstvz"
_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True)
class Shape:
    """How much a store holds."""

    pages_a_site: int
    documents: int
    links: int

    @property
    def fetched(self) -> int:
        """Pages of a site."""
        return int(FETCHED_SHARE * self.pages_a_site)

    @property
    def pages(self) -> int:
        return SITES * self.pages_a_site


def page_id(site: int, number: int) -> int:
    """The number in the store of page *number* of a *site*, both from 0."""
    block, rest = divmod(number, FOUND_AT_ONCE)
    return (block * SITES + site) * FOUND_AT_ONCE + rest + 1


def site_name(site: int) -> str:
    return f"https://www.daily-{site:04}.com"


def target(site: int, number: int) -> Target:
    """The link to page *number* of a *site*; some 75 characters."""
    name = site_name(site)
    url = f"{name}/section-{number % 37}/2026/11/{number:09}/what-happened-yesterday.html" if number else f"{name}/"
    return Target(url, url, page_key(url), name)


class GeneratedTexts:
    """Texts whose words are as frequent as people's (Zipf); the words are always the same."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(0)
        words: dict[str, None] = {}
        while len(words) < VOCABULARY:
            words["".join(rng.choices(_LETTERS, k=rng.randrange(2, 11)))] = None
        # Frequent ones are short.
        self.words = sorted(words, key=lambda word: (len(word) + 4 * rng.random(), word))
        weights = np.array(list(accumulate(1 / (rank + 2) for rank in range(VOCABULARY))))
        self._weights = weights / weights[-1]
        self._rng = np.random.default_rng(seed)

    def some(self, count: int) -> Iterator[tuple[str, str]]:
        """So many titles and texts."""
        lengths = self._rng.integers(*WORDS, count)
        chosen = np.searchsorted(self._weights, self._rng.random(int(lengths.sum())))
        words, start = self.words, 0
        for length in lengths.tolist():
            text = [words[number] for number in chosen[start : start + length].tolist()]
            start += length
            yield " ".join(text[:8]), " ".join(text)


def article(title: str, text: str) -> Article:
    return Article(title, text, BEGAN_AT, "2026-11-21", ("A. Writer",), "news", "en", "", "", "json-ld")


def begin(database: Database) -> crawls.CrawlRow:
    """The crawl of that store, begun or gone on with."""
    rows = [SiteRow(0, site_name(site), 4, None, DELAY_S) for site in range(SITES)]
    return crawls.begin(database, "bench", "news", rows, {}, BEGAN_AT)


def fill(path: Path, shape: Shape, seed: int) -> None:
    """Make the store at *path*, and print how long that takes."""
    rng = random.Random(seed)
    database = Database(f"sqlite:///{path}")
    crawl = begin(database)
    first_site = crawl.sites[0].id
    database.close()
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-500000", "locking_mode=EXCLUSIVE"):
        connection.execute(f"PRAGMA {pragma}")
    indexes = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN "
        "('page', 'news_score', 'document')"
    ).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    for table, rows in (
        ("page", _pages(shape, first_site)),
        ("news_score", _scores(shape, first_site, rng)),
        ("poll", _polls(shape, first_site)),
        ("link", _links(shape, rng)),
        ("document", _documents(shape, first_site, rng)),
        ("document_key", _keys(shape, rng)),
        ("document_band", _bands(shape, rng)),
        ("order_totals", [(crawl.id, 0, "[]", "[]")]),  # without which an order would know nothing
    ):
        start = time.perf_counter()
        number = _insert(connection, table, rows)
        print(f"  {number:,} rows of {table} in {time.perf_counter() - start:.0f} s", flush=True)
    connection.execute("UPDATE id_block SET next = (SELECT max(id) + 1 FROM page) WHERE name = 'page'")
    start = time.perf_counter()
    for _, statement in indexes:
        connection.execute(statement)
    connection.close()
    print(f"  indexes in {time.perf_counter() - start:.0f} s", flush=True)


def _insert(connection: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> int:
    iterator = iter(rows)
    first = next(iterator, None)
    if first is None:
        return 0
    names, values = ", ".join(_COLUMNS[table]), ", ".join("?" * len(_COLUMNS[table]))
    statement = f"INSERT INTO {table} ({names}) VALUES ({values})"
    connection.execute("BEGIN")
    connection.execute(statement, first)
    number = 1 + connection.executemany(statement, iterator).rowcount
    connection.execute("COMMIT")
    return number


_COLUMNS = {
    "page": (
        "id", "site_id", "key", "url", "variant", "level", "hops", "priority", "state", "found_on", "found_at",
        "state_at", "fetched_at", "attempts", "status", "content_hash", "title", "content_type", "size_bytes",
    ),
    "news_score": ("page_id", "site_id", "queue", "score", "value", "opic"),
    "poll": (
        "page_id", "site_id", "kind", "due_at", "polled_at", "polls", "failures", "new_items", "newest_at", "rate",
    ),
    "link": ("source_id", "target_id", "count"),
    "document": (
        "page_id", "site_id", "url", "title", "text", "published_at", "published", "authors", "section", "language",
        "extractor", "text_hash", "version", "stored_at",
    ),
    "document_key": ("high", "low", "page_id"),
    "document_band": ("band", "page_id"),
    "order_totals": ("crawl_id", "worker_id", "totals", "base"),
}  # fmt: skip


def _numbers(most: int) -> Iterator[tuple[int, int]]:
    """(site, number) of the pages of each site up to *most*, in the order of their numbers in the store."""
    for first in range(0, most, FOUND_AT_ONCE):
        for site in range(SITES):
            for number in range(first, min(first + FOUND_AT_ONCE, most)):
                yield site, number


def _pages(shape: Shape, first_site: int) -> Iterator[tuple[Any, ...]]:
    not_fetched = (None, 0, None, None, None, None, None)
    for site, number in _numbers(shape.pages_a_site):
        url, _, key, _ = target(site, number)
        is_fetched = number < shape.fetched
        fetched = (
            BEGAN_AT,
            1,
            200,
            f"{key:032x}",
            "What happened yesterday in a town",
            "text/html; charset=utf-8",
            60000,
        )
        state = int(State.DONE if is_fetched else State.WAITING)
        found_on = page_id(site, number // FOUND_AT_ONCE) if number else None
        row = (page_id(site, number), first_site + site, key, url, 0, min(number, 3), 0, 0.0, state, found_on)
        yield (*row, BEGAN_AT, BEGAN_AT, *(fetched if is_fetched else not_fetched))


def _scores(shape: Shape, first_site: int, rng: random.Random) -> Iterator[tuple[Any, ...]]:
    for site, number in _numbers(shape.pages_a_site):
        queue = REVISIT if number < POLLS else GONE if number < shape.fetched else QUEUES_OF_TEN[number % 10]
        value, opic = FACTORS[queue], 0.1 * rng.random()
        score = 2e12 if queue == REVISIT else value * opic
        yield page_id(site, number), first_site + site, queue, score, value, opic


def _polls(shape: Shape, first_site: int) -> Iterator[tuple[Any, ...]]:
    for site, number in _numbers(min(POLLS, shape.fetched)):
        state = ("page", SOME_DAY, BEGAN_AT, 30, 0, 60, BEGAN_AT, "[60.0, 2592000.0, 20]")
        yield page_id(site, number), first_site + site, *state


def _links(shape: Shape, rng: random.Random) -> Iterator[tuple[Any, ...]]:
    """As many of each page that was fetched; to the first pages of the site, and to any."""
    a_page = shape.links // max(SITES * shape.fetched, 1)
    if not a_page:
        return
    generator = np.random.default_rng(rng.randrange(1 << 30))
    ids = np.array([[page_id(site, number) for number in range(shape.pages_a_site)] for site in range(SITES)])
    step = shape.pages_a_site // a_page
    places = np.arange(a_page) * step  # one link into each such part of the site, so that none occurs twice
    for first in range(0, shape.fetched, FOUND_AT_ONCE):
        for site in range(SITES):
            numbers = range(first, min(first + FOUND_AT_ONCE, shape.fetched))
            targets = ids[site][generator.integers(0, step, (len(numbers), a_page)) + places]
            targets.sort(axis=1)
            for number, row in zip(numbers, targets.tolist(), strict=True):
                source = page_id(site, number)
                for one in row:
                    yield source, one, 1


def _document_numbers(shape: Shape) -> Iterator[tuple[int, int]]:
    """Of the pages that were fetched, the last ones: home pages and sections came first."""
    a_site = shape.documents // SITES
    for site, number in _numbers(shape.fetched):
        if number >= shape.fetched - a_site:
            yield site, number


def _documents(shape: Shape, first_site: int, rng: random.Random) -> Iterator[tuple[Any, ...]]:
    texts = GeneratedTexts(rng.randrange(1 << 30))
    left = texts.some(0)
    for site, number in _document_numbers(shape):
        pair = next(left, None)
        if pair is None:
            left = texts.some(_AT_ONCE)
            pair = next(left)
        key = rng.getrandbits(63)
        row = (page_id(site, number), first_site + site, target(site, number).url, *pair, BEGAN_AT, "2026-11-21")
        yield *row, '["A. Writer"]', "news", "en", "json-ld", f"{key:032x}", 1, BEGAN_AT + number


def _keys(shape: Shape, rng: random.Random) -> Iterator[tuple[Any, ...]]:
    """Random ones, as hashes are; sorted, which is quicker."""
    generator = np.random.default_rng(rng.randrange(1 << 30))
    number = int(KEYS_A_DOCUMENT * shape.documents)
    highs = np.sort(generator.integers(-(1 << 63), (1 << 63) - 1, number))
    lows = generator.integers(-(1 << 63), (1 << 63) - 1, number)
    owners = generator.integers(1, shape.pages, number)
    for first in range(0, number, _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        yield from zip(highs[part].tolist(), lows[part].tolist(), owners[part].tolist(), strict=True)


def _bands(shape: Shape, rng: random.Random) -> Iterator[tuple[Any, ...]]:
    if not shape.documents:
        return
    texts = GeneratedTexts(rng.randrange(1 << 30))
    fingerprints = [document_fingerprint(site_name(0), article(*pair)).bands for pair in texts.some(PRINTS)]
    columns = np.empty((2, BANDS * (shape.documents // SITES) * SITES), dtype=np.int64)
    place = 0
    for site, number in _document_numbers(shape):
        for band in rng.choice(fingerprints):
            columns[:, place] = band ^ site << 40, page_id(site, number)  # no site shares a band with another
            place += 1
    columns = columns[:, :place]
    order = np.lexsort((columns[1], columns[0]))
    for first in range(0, place, _AT_ONCE):
        yield from zip(*columns[:, order[first : first + _AT_ONCE]].tolist(), strict=True)
