"""The actions of `scrapy sites` on feeds and sitemaps, on files of sources, and those that show alarms and results."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.cli.sites.site_seeds import change_of, hidden, opened, seed_named
from crawlers.files.text_file import shortened_list
from crawlers.inputs.program import program, suggested
from crawlers.inputs.setting_readers import normalization
from crawlers.missions.news.feeds.sources_file import feed_address, read_sources
from crawlers.missions.news.news_items import FEED, SITEMAP
from crawlers.missions.news.reports.news_summary import source_figures
from crawlers.missions.news.stored.alarms import list_alarms
from crawlers.missions.news.stored.news_tables import feed
from crawlers.missions.news.stored.stored_sources import add_feed, list_feeds, save_sources, stored_sources, switch_feed
from crawlers.reports.catalogue.renderers import text_table
from crawlers.reports.catalogue.report import Column, Kind
from crawlers.urls.domains import is_in_domain, rule_domain
from crawlers.urls.resolution import resolve

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings


def import_sources(settings: BaseSettings, name: str) -> None:
    """Add the sources in the file *name*, and print them."""
    sources, problems = read_sources(name)
    sites = [one.limits.site for one in sources]
    with opened(settings, create=True) as database:
        before: dict[str, object] = {one.limits.site: one for one in stored_sources(database, sites)}
        before |= dict.fromkeys(before.keys() - {one.limits.site for one in stored_sources(database)}, "disabled")
        saved = save_sources(database, sources)
        after = {one.limits.site: one for one in stored_sources(database, sites)}
    for number, site in zip(saved, sites, strict=True):
        print(f"{number} {after[site].limits.start_url} {change_of(before.get(site), after[site])}")
    for problem in shortened_list(problems):
        print(f"Skipped: {problem}", file=sys.stderr)
    if problems:
        print(
            f"Skipped: {len(problems)} of {len(problems) + len(saved)} entries; fix them, and import the file again",
            file=sys.stderr,
        )


FEEDS = (
    Column("seed", "seed", Kind.NUMBER),
    Column("site", "site"),
    Column("url", "URL"),
    Column("kind", "kind"),
    Column("origin", "origin"),
    Column("enabled", "enabled"),
    Column("polled_at", "last poll (UTC)", Kind.TIME),
    Column("items", "items", Kind.COUNT),
    Column("problem", "problem", Kind.REASON),
)
ALARMS = (
    Column("crawl", "crawl"),
    Column("raised_at", "raised (UTC)", Kind.TIME),
    Column("ended_at", "ended (UTC)", Kind.TIME),
    Column("kind", "alarm"),
    Column("subject", "subject"),
    Column("message", "problem and remedy"),
)
SOURCES = (
    Column("number", "number", Kind.NUMBER),
    Column("site", "site"),
    Column("enabled", "enabled"),
    Column("documents", "documents", Kind.COUNT),
    Column("stored_at", "last one (UTC)", Kind.TIME),
    Column("feeds", "feeds", Kind.COUNT),
    Column("alarms", "open alarms", Kind.COUNT),
)


def show(settings: BaseSettings, wanted: list[str], opts: argparse.Namespace) -> None:
    """Print the feeds of a site, or of all, with the results of their latest polls."""
    options = normalization(settings)
    with opened(settings) as database:
        seed = seed_named(database, wanted[0]) if wanted else None
        feeds = list_feeds(database, lambda url: resolve(url, "", options).key, None if seed is None else seed.number)
    enabled = [column.name for column in FEEDS].index("enabled")
    shown = [one for one in feeds if opts.all or one[enabled]]
    if shown:
        print(text_table(FEEDS, shown))
    if len(shown) < len(feeds):
        print(hidden(len(feeds) - len(shown), "feed", are_more=bool(shown)))
    elif not feeds:
        site = "SITE" if seed is None else str(seed.number)
        print(f"no feeds yet; a news crawl discovers feeds, or add one: {program()} sites add-feed {site} /rss.xml")


def add(settings: BaseSettings, given: list[str], _: argparse.Namespace) -> None:
    """Add or enable a feed."""
    with opened(settings) as database:
        seed = seed_named(database, given[0])
        url = feed_address(given[1], seed.start_url)
        kind = SITEMAP if "sitemap" in url.lower() else FEED
        is_new = add_feed(database, seed, url, kind)
    polled = suggested("the next `scrapy crawl news` polls it")
    print(f"{kind} {url} of {seed.site} {'added' if is_new else 'enabled'}; {polled}")


def remove(settings: BaseSettings, given: list[str], _: argparse.Namespace) -> None:
    """Disable a feed."""
    with opened(settings) as database:
        seed = seed_named(database, given[0])
        url = feed_address(given[1], seed.start_url)
        switch_feed(database, seed, url, enabled=False)
    print(
        f"{url} of {seed.site} is no longer polled; `{program()} sites add-feed {seed.number} {url}` enables it again"
    )


def show_alarms(settings: BaseSettings, wanted: list[str], opts: argparse.Namespace) -> None:
    """Print the open alarms of a source, or of all."""
    with opened(settings) as database:
        alarms = list_alarms(database)
        if wanted:
            seed = seed_named(database, wanted[0])
            domain, its = rule_domain(seed.site), select(feed.c.url).where(feed.c.seed_id == seed.number)
            feeds = frozenset(database.scalars(its))
            alarms = [one for one in alarms if one.subject in feeds or is_in_domain(one.subject, domain)]
    shown = [one for one in alarms if opts.all or one.ended_at is None]
    if shown:
        print(text_table(ALARMS, ((*one[:-1], suggested(one.message)) for one in shown)))
    else:
        print("no open alarms")
    if len(shown) < len(alarms):
        more = len(alarms) - len(shown)
        print(f"{more} more {'has' if more == 1 else 'have'} ended; --all shows them")


def show_sources(settings: BaseSettings) -> None:
    """Print the news sources with their results."""
    with opened(settings) as database:
        sources = source_figures(database)
    if sources:
        print(text_table(SOURCES, sources))
    else:
        print(suggested("no sources yet; add some: scrapy sites import sources.yaml"))
