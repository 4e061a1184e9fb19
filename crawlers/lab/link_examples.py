"""Reads what links of stored crawls looked like, and what the pages behind them brought, to learn from them."""

from __future__ import annotations

import random
from array import array
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from sqlalchemy import select

from crawlers.items import LinkPlace
from crawlers.ranking.link_features import NONE, SHARED, TEXTS, feature_id, is_word, link_features, words
from crawlers.ranking.link_prior import KINDS
from crawlers.store.schema.tables import link_features as stored_features
from crawlers.store.schema.tables import page, pull, site
from crawlers.store.writing.stored_features import read_features, read_reward

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from sqlalchemy import Connection

    from crawlers.lab.link_regression import Example, Name
    from crawlers.store.database import Database

ROWS_AT_ONCE = 10_000
WORDS_OF_PAGE = 50  # of a title or a URL
_OF_URL = ("url", "level")  # the kinds that the URL and the level of a page tell


class _Read(NamedTuple):
    """A download of a page."""

    features: array[int] | None
    url: str | None
    level: int | None
    reward: float


class LinkExamples:
    """At most *most* downloads of each site, at random, with the features of the links to their pages.

    The same downloads are chosen whenever the same crawls are added. Of a crawl with ORDER=learnt all features are
    known; of others, the words of URLs and the levels. Home pages are left out.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._chosen: dict[str, list[_Read]] = {}
        self._pages: dict[str, int] = {}  # seen
        self._random: dict[str, random.Random] = {}
        self.pages = 0

    def add(self, database: Database, crawl_id: int) -> bool:
        """Add the downloads of a crawl; return whether the features of links are stored of any.

        Raises `StoreError` if the store is damaged.
        """
        rows = (
            select(site.c.site, stored_features.c.features, page.c.url, page.c.level, pull.c.reward)
            .select_from(pull)
            .join(site, site.c.id == pull.c.site_id)
            .outerjoin(stored_features, stored_features.c.page_id == pull.c.page_id)
            .outerjoin(page, page.c.id == pull.c.page_id)  # rows of duplicates may have been deleted
            .where(site.c.crawl_id == crawl_id)
            .order_by(pull.c.id)
        )
        has_features = False
        with (
            database.read() as connection,
            connection.execution_options(yield_per=ROWS_AT_ONCE).execute(rows) as downloads,
        ):
            for name, *values in downloads:
                read = _read(database.name, *values)
                if read.features is not None or read.level:
                    self._sample(name, read)
                    has_features |= read.features is not None
        return has_features

    def _sample(self, name: str, read: _Read) -> None:
        chosen = self._chosen.setdefault(name, [])
        number = self._pages[name] = self._pages.get(name, 0) + 1
        self.pages += 1
        if len(chosen) < self._most:
            chosen.append(read)
            return
        at = self._random.setdefault(name, random.Random(name)).randrange(number)  # noqa: S311 - a sample
        if at < self._most:
            chosen[at] = read

    def sites(self) -> list[list[Example]]:
        """Return the examples of each site, by the name of the site; features are named by kind and number."""
        return [[_example(name, read) for read in reads] for name, reads in sorted(self._chosen.items())]


def _read(store: str, features: str | None, url: str | None, level: int | None, reward: Any) -> _Read:
    ids = None if features is None else array("I", read_features(features, store).tolist())
    return _Read(ids, url, level, read_reward(reward, store))


def _example(name: str, read: _Read) -> Example:
    if read.features is not None:
        ids, kinds = read.features, KINDS
    else:
        assert read.url is not None
        assert read.level is not None
        ids, kinds = link_features(name, read.url, read.level, 0, LinkPlace("", "", "")), _OF_URL
    return [(kind, ids[at]) for at, kind in SHARED if ids[at] != NONE and kind in kinds], read.reward


def names_of(database: Database, crawl_id: int, wanted: Collection[Name]) -> dict[Name, str]:
    """Return the texts of those *wanted* features that titles and URLs of pages of a crawl tell.

    Features are stored as numbers. A word of links on several sites is nearly always in the title or the URL of a page.
    """
    found: dict[Name, str] = {}
    for kind, texts in TEXTS.items():
        found |= {(kind, number): text for text in texts if (kind, number := feature_id(kind, "", text)) in wanted}
    with database.read() as connection:
        for word in _words(connection, crawl_id):
            for kind in ("anchor", "url"):
                name = (kind, feature_id(kind, "", word))
                if name in wanted:
                    found.setdefault(name, word)
    return found


def _words(connection: Connection, crawl_id: int) -> Iterator[str]:
    """Yield each word of the titles and the URLs of pages once."""
    pages = (
        select(page.c.title, page.c.url)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id)
        .order_by(page.c.id)
        .execution_options(yield_per=ROWS_AT_ONCE)
    )
    known: set[str] = set()
    for title, url in connection.execute(pages):
        texts: Sequence[str] = (title or "", unquote(url.partition("://")[2].partition("/")[2]))
        for text in texts:
            for word in words(text, WORDS_OF_PAGE):
                if word not in known and is_word(word):
                    known.add(word)
                    yield word
