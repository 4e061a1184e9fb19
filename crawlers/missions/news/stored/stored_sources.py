"""News sources: seeds with their feeds and the rules of their domains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import bindparam, case, func, insert, select, true, update

from crawlers.errors import ConfigError
from crawlers.items import SiteLimits
from crawlers.missions.news.feeds.sources import Source
from crawlers.missions.news.news_items import ANNOUNCERS, FEED, SITEMAP
from crawlers.missions.news.stored.news_tables import feed, poll
from crawlers.missions.news.urls.rule_learner import HAND
from crawlers.missions.news.urls.stored_rules import content_rules, replace_content, replace_rules, rules_by_domain
from crawlers.store.database import lock_name
from crawlers.store.schema.tables import page, seed
from crawlers.store.sites.seeds import SeedChange, write_seeds
from crawlers.urls.domains import rule_domain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlalchemy import Connection

    from crawlers.missions.news.urls.rule_learner import UrlRule
    from crawlers.reports.catalogue.report import Cells
    from crawlers.store.database import Database
    from crawlers.store.sites.seeds import Seed


def save_sources(database: Database, sources: Sequence[Source], *, enable: bool = True) -> list[int]:
    """Create or update the seeds, feeds and rules that *sources* name; return their numbers.

    Limits, rules and content rules are replaced; name, language and region are kept where a source has none. Feeds
    are only added; `switch_feed` disables one. Changes that a person made to a feed or rule by command are kept. With
    *enable*, later harvests include the sites by default; without it, this stays as it was.
    """
    with database.write() as connection:
        lock_name(connection, "sources")  # workers that begin at the same time save the same ones
        before = _numbers(connection)
        write_seeds(
            connection,
            (_change(one, **{"enabled": enable} if enable or one.limits.site not in before else {}) for one in sources),
        )
        numbers = _numbers(connection)
        _save_feeds(connection, [(numbers[source.limits.site], source) for source in sources])
        rules: dict[str, list[UrlRule]] = {}
        content: dict[str, dict[str, str]] = {}
        for source in sources:  # two sources may share a domain: by http and https, or on two ports
            rules.setdefault(source.domain, []).extend(source.rules)
            content.setdefault(source.domain, {}).update(source.content)
        if sources:
            replace_rules(connection, HAND, rules)
            replace_content(connection, content)
    return [numbers[one.limits.site] for one in sources]


def stored_sources(database: Database, sites: Iterable[str] | None = None) -> list[Source]:
    """Return the enabled seeds by number, or those of *sites*, with their enabled feeds and manual rules."""
    wanted = None if sites is None else frozenset(sites)
    feeds: dict[tuple[int, str], list[str]] = {}
    for row in database.rows(select(feed).where(feed.c.enabled).order_by(feed.c.is_given.desc(), feed.c.id)):
        feeds.setdefault((row.seed_id, row.kind), []).append(row.url)
    rules, content = rules_by_domain(database), content_rules(database)
    found = []
    for row in database.rows(select(seed).order_by(seed.c.id)):
        if row.site in wanted if wanted is not None else row.enabled:
            domain = rule_domain(row.site)
            found.append(
                Source(
                    SiteLimits(row.site, row.parallel, row.max_level, row.delay_s, row.start_url),
                    row.name,
                    tuple(feeds.get((row.id, FEED), ())),
                    tuple(feeds.get((row.id, SITEMAP), ())),
                    tuple(rule for rule in rules.get(domain, ()) if rule.origin == HAND),
                    content.get(domain, {}),
                    row.language,
                    row.region,
                    tuple((row.hosts or "").split()),
                )
            )
    return found


def add_feed(database: Database, owner: Seed, url: str, kind: str) -> bool:
    """Add or enable a feed of a seed; return whether it is new. Raises `ConfigError` if it belongs to another seed."""
    with database.write() as connection:
        row = connection.execute(select(feed).where(feed.c.url == url)).one_or_none()
        if row is not None and row.seed_id != owner.number:
            raise ConfigError(
                f"{url} is already a feed of seed {row.seed_id}, and a feed has one source; add it to that seed, or "
                "remove that seed"
            )
        if row is None:
            connection.execute(insert(feed).values(seed_id=owner.number, url=url, kind=kind, is_given=True))
        else:
            connection.execute(update(feed).where(feed.c.id == row.id).values(is_given=True, enabled=True))
    return row is None


def switch_feed(database: Database, owner: Seed, url: str, *, enabled: bool) -> None:
    """Enable or disable a feed of a seed. Raises `ConfigError` if the seed has no such feed.

    A disabled feed is not deleted, because crawls would discover it again.
    """
    with database.write() as connection:
        is_it = (feed.c.url == url) & (feed.c.seed_id == owner.number)
        if not connection.execute(update(feed).where(is_it).values(enabled=enabled)).rowcount:
            raise ConfigError(
                f"{url} is not a feed of {owner.site}; `scrapy sites feeds {owner.number} --all` lists its feeds"
            )


def list_feeds(database: Database, key_of: Callable[[str], int], owner: int | None = None) -> list[Cells]:
    """Return the feeds of the seed *owner*, or of all seeds, with their latest polls in any crawl.

    They are sorted by seed, the given ones first. The cells: the number and the site of the seed; URL, kind, origin
    (given or found), whether it is enabled; when it was polled, the items that it announced so far, its problem.
    *key_of* returns the key of a URL in a crawl.
    """
    origin = case((feed.c.is_given, "given"), else_="found")
    statement = (
        select(seed.c.id, seed.c.site, feed.c.url, feed.c.kind, origin, feed.c.enabled)
        .join(seed, seed.c.id == feed.c.seed_id)
        .order_by(seed.c.id, feed.c.is_given.desc(), feed.c.id)
    )
    if owner is not None:
        statement = statement.where(seed.c.id == owner)
    # A plain sitemap lists pages of any kind, and announces none of them.
    items = case((poll.c.kind == FEED, poll.c.new_items), else_=func.nullif(poll.c.new_items, 0))
    polls = (
        select(page.c.key, poll.c.polled_at, items, poll.c.problem)
        .join(page, page.c.id == poll.c.page_id)
        .where(poll.c.kind.in_(ANNOUNCERS))
        .order_by(poll.c.polled_at)
    )
    latest = {key: tuple(values) for key, *values in database.rows(polls)}
    never = (None, None, None)
    return [(*row, *latest.get(key_of(row.url), never)) for row in database.rows(statement)]


def _numbers(connection: Connection) -> dict[str, int]:
    return {row.site: row.id for row in connection.execute(select(seed.c.site, seed.c.id))}


def _change(source: Source, **enabled: bool) -> SeedChange:
    limits = source.limits
    change: SeedChange = {
        "site": limits.site,
        "start_url": limits.start_url or f"{limits.site}/",
        "parallel": limits.parallel,
        "max_level": limits.max_level,
        "delay_s": limits.delay_s,
        "hosts": " ".join(source.hosts) or None,
    }
    kept = {"name": source.name, "language": source.language, "region": source.region}
    return cast("SeedChange", change | {name: one for name, one in kept.items() if one is not None} | enabled)


def _save_feeds(connection: Connection, owned: Iterable[tuple[int, Source]]) -> None:
    known = set(connection.execute(select(feed.c.url)).scalars())
    values: dict[str, Any] = {"seed_id": bindparam("owner"), "kind": bindparam("what"), "is_given": true()}
    rows = [
        {"owner": number, "what": kind, "address": url}
        for number, source in owned
        for kind, urls in ((FEED, source.feeds), (SITEMAP, source.sitemaps))
        for url in urls
    ]
    if former := [row for row in rows if row["address"] in known]:
        connection.execute(update(feed).where(feed.c.url == bindparam("address")).values(values), former)
    if new := [row for row in rows if row["address"] not in known]:
        connection.execute(insert(feed).values({**values, "url": bindparam("address")}), new)


def removed_feeds(database: Database, includes: Callable[[str], bool]) -> list[str]:
    """Return the URLs of the feeds that a person disabled, and of those whose source's site the crawl excludes."""
    statement = select(feed.c.url, feed.c.enabled, seed.c.site).join(seed, seed.c.id == feed.c.seed_id)
    rows = database.rows(statement.order_by(feed.c.id))
    return [url for url, is_enabled, owner in rows if not (is_enabled and includes(owner))]
