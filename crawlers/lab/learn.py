"""Makes the weights with which ORDER=learnt begins from crawls of one's own: `scrapy lab learn`.

It reads what links of stored crawls looked like, and what the pages behind them brought; the weights are those of a
ridge regression on features of links. Only features that mean the same on all sites count, and of these the ones that
occur on several sites: others are names of products.
"""

from __future__ import annotations

import json
import math
import random
from array import array
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import unquote

import numpy as np
from sqlalchemy import select

from crawlers.errors import ConfigError
from crawlers.files.atomic import replacing
from crawlers.inputs.setting_readers import named_by
from crawlers.items import LinkPlace
from crawlers.lab.options import check
from crawlers.mission import missions
from crawlers.options.kinds import JSON
from crawlers.plurals import counted
from crawlers.ranking.link_features import (
    KINDS,
    MAX_ETA,
    NONE,
    SHARED,
    TEXTS,
    feature_id,
    is_word,
    link_features,
    words,
)
from crawlers.ranking.page_orders import REWARDS
from crawlers.reports.catalogue.renderers import text_table
from crawlers.reports.catalogue.report import Column, Kind
from crawlers.store.database import Database
from crawlers.store.reading.crawl_settings import settings_of
from crawlers.store.reading.queries import crawl_named, crawls_of_mission, sites_of
from crawlers.store.schema.tables import link_features as stored_features
from crawlers.store.schema.tables import page, pull, site
from crawlers.store.writing.pulls import downloads_with_links, read_features, read_reward

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from scrapy.settings import BaseSettings
    from sqlalchemy import Connection

    from crawlers.store.reading.queries import NamedCrawl

    Name: TypeAlias = tuple[str, str | int]  # kind of a feature, and its text or number
    Example: TypeAlias = tuple[Sequence[Name], float]  # features of the link to a page, and the new links of the page

PAGES = 400  # of a site, at random: otherwise large sites would decide
LARGEST = 200  # weights that are kept; more are no better
MIN_SITES = 3  # on which a feature must occur
FEW_PAGES = 30  # smaller sites count less: their pages have the weight of pages of a site with so many
# Of weights, by kind of feature. Words may say less than in `link_features.FEATURES`, whose 0.4 was measured for the
# learner: it corrects itself with every page, and these weights must hold on sites that nobody has read yet. Multiplied
# by 0.7 or 1.5 they find no more (docs/measurements.md).
VARIANCES = {"anchor": 0.1, "url": 0.1, "anchor length": 0.02, "level": 0.05}
# The variance of ln(1 + new links) of pages with the same features. That of `link_values` has another unit: it is the
# variance of the rewards themselves, in means, because the learner is no regression of logarithms.
NOISE = 0.5
FOLDS = 5


def regression(sites: Sequence[Sequence[Example]], min_sites: int = MIN_SITES) -> dict[Name, float]:
    """Return the weights of the features that occur on *min_sites* of the *sites*, each with its examples.

    They are those of a ridge regression of ln(1 + new links), with an intercept for each site.

    >>> sites = [[([("url", "news")], 9.0), ([("url", "old")], 0.0)]] * 3
    >>> {name: round(weight, 2) for (kind, name), weight in regression(sites).items()}
    {'news': 0.74, 'old': -0.47}

    Notes
    -----
    O(features of all examples) for each of some tens of iterations.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import lsqr

    spread = Counter(name for site in sites for name in {name for names, _ in site for name in names})
    columns: dict[Name, int] = {}
    rows, places, values = array("i"), array("i"), array("d")  # lists of numbers take six times as much
    goals: list[float] = []
    for number, examples in enumerate(sites):
        weight = (100.0 / max(FEW_PAGES, len(examples))) ** 0.25
        for names, reward in examples:
            for name in (name for name in dict.fromkeys(names) if spread[name] >= min_sites):
                rows.append(len(goals))
                places.append(len(sites) + columns.setdefault(name, len(columns)))
                values.append(weight * VARIANCES[name[0]] ** 0.5)
            rows.append(len(goals))
            places.append(number)
            values.append(weight)
            goals.append(weight * math.log1p(reward))
    if not columns:
        return {}
    matrix = csr_matrix((values, (rows, places)), shape=(len(goals), len(sites) + len(columns)))
    solved = lsqr(matrix, np.array(goals), damp=NOISE**0.5, atol=1e-8, btol=1e-8)[0][len(sites) :]
    return {name: float(solved[at]) * VARIANCES[name[0]] ** 0.5 for name, at in columns.items()}


def explained(sites: Sequence[Sequence[Example]]) -> float:
    """Return the share of the variance of ln(1 + new links) within *sites* that weights explain, made without them.

    It is at most 1, and below 0 if they predict worse than nothing.
    """
    left = total = 0.0
    for fold in range(FOLDS):
        weights = regression([examples for at, examples in enumerate(sites) if at % FOLDS != fold])
        for examples in sites[fold::FOLDS]:
            gains = np.array([math.log1p(reward) for _, reward in examples])
            values = np.array([sum(weights.get(name, 0.0) for name in dict.fromkeys(names)) for names, _ in examples])
            scale = max(FEW_PAGES, len(examples)) ** -0.5
            left += scale * float(np.sum(((gains - gains.mean()) - (values - values.mean())) ** 2))
            total += scale * float(np.sum((gains - gains.mean()) ** 2))
    return 1.0 - left / total if total else 0.0


def largest(weights: Mapping[Name, float], most: int = LARGEST) -> dict[Name, float]:
    """Return the *most* largest *weights*, rounded, by name.

    >>> largest({("url", "news"): 0.12345, ("url", "old"): -0.5, ("level", "1"): 0.0}, 2)
    {('url', 'news'): 0.123, ('url', 'old'): -0.5}
    """
    kept = sorted(weights, key=lambda name: (-abs(weights[name]), name))[:most]
    return {name: round(max(-MAX_ETA, min(MAX_ETA, weights[name])), 3) for name in sorted(kept)}


def by_kind(weights: Iterable[tuple[Name, float]]) -> dict[str, dict[str | int, float]]:
    """Return *weights* by kind and text, as `link_features.prior_of` takes them.

    >>> by_kind([(("url", "news"), 0.5)])
    {'url': {'news': 0.5}}
    """
    found: dict[str, dict[str | int, float]] = {}
    for (kind, text), weight in weights:
        found.setdefault(kind, {})[text] = weight
    return found


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
        columns = (site.c.site, stored_features.c.features, page.c.url, page.c.level, pull.c.reward)
        rows = downloads_with_links(site.c.crawl_id == crawl_id, *columns)
        rows = rows.outerjoin(page, page.c.id == pull.c.page_id)  # rows of duplicates may have been deleted
        has_features = False
        with database.read() as connection, connection.execute(rows) as downloads:
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


HELP = "makes a link prior for ORDER=learnt from crawls: scrapy lab learn [CRAWL, file or URL of a store …]."
TAKES = frozenset({"names", "crawl", "out"})
FILE = "link-weights.json"
MOST_PAGES = 50_000  # that are learnt from; some 3 KB each
FACTORS = (Column("factor", "factor", Kind.DECIMAL), Column("kind", "kind"), Column("feature", "feature"))
MAX_SHOWN = 10  # words that raise what is expected most, and that lower it most


def add_options(parser: argparse._ArgumentGroup) -> None:
    """Add nothing to *parser*: the names of crawls follow `learn`."""


def run(opts: argparse.Namespace, settings: BaseSettings) -> None:
    """Learn from the crawls `opts.names`, print the greatest weights and write all of them; raises `ConfigError`."""
    if opts.crawl is not None and opts.names:
        raise ConfigError(f"--crawl {opts.crawl} and {opts.names[0]} both name crawls; write all names without --crawl")
    if opts.out is None:
        if Path(FILE).exists():
            raise ConfigError(f"{FILE} exists; name it to replace it: --out {FILE}, or name another file")
        opts.out = FILE
    check(opts, settings, JSON)
    with ExitStack() as stores:
        crawls = _crawls(stores, opts.names or [named_by(opts.crawl, settings) or ""], settings)
        _check_rewards(crawls)
        number = sum(len(sites_of(database, crawl.id)) for database, crawl in crawls)
        examples = LinkExamples(max(1, min(PAGES, MOST_PAGES // max(1, number))))
        notes = [
            f"{crawl} has no texts of links, which ORDER=learnt stores: it teaches words of URLs and levels only"
            for database, crawl in crawls
            if not examples.add(database, crawl.id)
        ]
        sites = examples.sites()
        if len(sites) < MIN_SITES:
            raise ConfigError(
                f"pages of {counted(len(sites), 'site')} were read, but weights need {MIN_SITES}: words on fewer "
                "sites are left out, because they may be names; crawl more sites, or name further crawls"
            )
        weights = regression(sites)
        texts: dict[Name, str] = {}
        for database, crawl in crawls:
            texts |= names_of(database, crawl.id, weights.keys() - texts.keys())
    if nameless := len(weights) - len(texts):
        notes.append(f"{nameless} of {counted(len(weights), 'feature')} left out, as no title or URL has the word")
    kept = largest({(kind, text): weights[kind, number] for (kind, number), text in texts.items()})
    used = sum(map(len, sites))
    print(
        f"{counted(len(crawls), 'crawl')}, {counted(len(sites), 'site')}: {counted(examples.pages, 'page')}, "
        f"of which {used:,} are learnt from"
    )
    for note in notes:
        print(f"note: {note}")
    print(f"factors by which features of links change the reward that is expected\n{_table(kept)}")
    if len(sites) >= FOLDS:
        share = explained(sites)
        print(f"of the differences between pages of a site, weights from other sites explain {share:.1%}")
        if share <= 0:
            print("note: such weights may mislead; replay a crawl of other sites with them before you use them")
    else:
        print(f"note: {FOLDS} sites are needed to say how much such weights explain on other sites")
    with replacing(Path(opts.out)) as stream:
        stream.write(f"{json.dumps(by_kind(kept.items()), ensure_ascii=False, indent=0)}\n".encode())
    print(f"{opts.out}: {counted(len(kept), 'weight')}, for crawls with ORDER=learnt: -s LINK_PRIOR={opts.out}")


def _crawls(stores: ExitStack, names: Sequence[str], settings: BaseSettings) -> list[tuple[Database, NamedCrawl]]:
    """Return the crawls called *names*, all harvests of a file or a URL, or of the usual store if a name is empty.

    Each with its store, which *stores* will close. Raises `ConfigError`.
    """
    found: dict[tuple[str, int], tuple[Database, NamedCrawl]] = {}
    opened: dict[str, Database] = {}
    harvesting = [one.name for one in missions().values() if REWARDS in one.gives]
    for name in names:
        url = name if "://" in name else f"sqlite:///{name}" if _is_file(name) else ""
        of_store = url or settings.get("DATABASE_URL")
        try:
            if of_store not in opened:
                opened[of_store] = stores.enter_context(closing(Database(of_store, create=False)))
            database = opened[of_store]
            crawls = (
                [crawl_named(database, name)]
                if name and not url
                else [crawl for mission in harvesting for crawl in crawls_of_mission(database, mission)]
            )
        except ConfigError as error:
            if name and not url:
                raise ConfigError(f"{name} is neither a crawl nor a file: {error}") from error
            raise
        if not crawls or crawls[0].mission not in harvesting:
            what = f"{crawls[0]} is no crawl" if crawls else f"{database.name} has no crawl"
            command = f"scrapy crawl {' or '.join(harvesting) or 'NAME'}"
            raise ConfigError(f"{what} of a mission that counts new links; run {command}, or name another")
        found |= {(of_store, crawl.id): (database, crawl) for crawl in crawls}
    return [*found.values()]


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:  # a name that is too long for one
        return False


def _check_rewards(crawls: Sequence[tuple[Database, NamedCrawl]]) -> None:
    found: dict[str, NamedCrawl] = {}
    for database, crawl in crawls:
        found.setdefault(settings_of(database, crawl.id).get("REWARD") or "new_links", crawl)
    if len(found) > 1:
        different = ", ".join(f"{crawl} has REWARD={reward}" for reward, crawl in found.items())
        raise ConfigError(f"crawls with different rewards have no common weights: {different}; name those with one")


def _table(weights: Mapping[Name, float]) -> str:
    best = sorted(weights.items(), key=lambda one: (-one[1], one[0]))
    shown = best if len(best) <= 2 * MAX_SHOWN else [*best[:MAX_SHOWN], *best[-MAX_SHOWN:]]
    return text_table(FACTORS, [(round(math.exp(weight), 2), kind, str(text)) for (kind, text), weight in shown])
