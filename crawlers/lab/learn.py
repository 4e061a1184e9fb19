"""`scrapy lab learn`: makes the weights with which ORDER=learnt begins from crawls of one's own."""

from __future__ import annotations

import json
import math
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError
from crawlers.files.atomic import replacing
from crawlers.inputs.crawl_name import named_by
from crawlers.lab.link_examples import LinkExamples, names_of
from crawlers.lab.link_regression import (
    FOLDS,
    MIN_SITES,
    PAGES,
    by_kind,
    explained,
    largest,
    regression,
)
from crawlers.lab.options import check
from crawlers.options.file_kinds import JSON
from crawlers.plurals import counted
from crawlers.reports.catalogue.renderers import text_table
from crawlers.reports.catalogue.table import Column, Kind
from crawlers.store.database import Database
from crawlers.store.reading.crawl_settings import settings_of
from crawlers.store.reading.queries import crawl_named, crawls_of_mission, sites_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from scrapy.settings import BaseSettings

    from crawlers.lab.link_regression import Name
    from crawlers.store.reading.queries import NamedCrawl

HELP = "makes a link prior for ORDER=learnt from crawls: scrapy lab learn [CRAWL, file or URL of a store …]."
FILE = "link-weights.json"
MISSION = "extlinks"
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
    for name in names:
        url = name if "://" in name else f"sqlite:///{name}" if _is_file(name) else ""
        of_store = url or settings.get("DATABASE_URL")
        try:
            if of_store not in opened:
                opened[of_store] = stores.enter_context(closing(Database(of_store, create=False)))
            database = opened[of_store]
            crawls = [crawl_named(database, name)] if name and not url else crawls_of_mission(database, MISSION)
        except ConfigError as error:
            if name and not url:
                raise ConfigError(f"{name} is neither a crawl nor a file: {error}") from error
            raise
        if not crawls or crawls[0].mission != MISSION:
            what = f"{crawls[0]} is no crawl of {MISSION}" if crawls else f"{database.name} has no crawl of {MISSION}"
            raise ConfigError(f"{what}, which alone counts new links; run scrapy crawl {MISSION}, or name another")
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
