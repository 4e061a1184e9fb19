"""The sources of news: seeds with feeds, and with the rules of their domains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, delete, func, insert, select, text, update

from crawlers.algorithms.news.sources import Source
from crawlers.algorithms.url_rules.rule_learner import HAND
from crawlers.algorithms.urls.domains import rule_domain
from crawlers.errors import ConfigError
from crawlers.items import FEED, SITEMAP, SiteLimits
from crawlers.storage.news.stored_rules import content_rules, replace_content, replace_rules, rules_by_domain
from crawlers.storage.schema.news_tables import feed, poll
from crawlers.storage.schema.tables import page, seed, site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlalchemy import Connection

    from crawlers.algorithms.url_rules.rule_learner import UrlRule
    from crawlers.items import Seed
    from crawlers.storage.database import Database

LIMITS = ("start_url", "parallel", "max_level", "delay_s", "hosts")
KEPT = ("name", "language", "region")  # what stays as it is when a file does not say it


class SavedSource(NamedTuple):
    """A source as it is in the store now."""

    number: int  # of its seed
    source: Source
    is_new: bool


class FeedRow(NamedTuple):
    """A feed or sitemap, and what its latest poll in any crawl said."""

    id: int
    seed_number: int
    site: str
    url: str
    kind: str  # feed, sitemap
    is_given: bool  # by a person; else found by itself
    enabled: bool
    polled_at: float | None = None
    items: int | None = None  # ever
    problem: str | None = None


def save_sources(database: Database, sources: Sequence[Source], *, enable: bool = True) -> list[SavedSource]:
    """Create or update the seeds, feeds and rules that *sources* name.

    Limits, rules and content rules become those of the file; name, language and region stay where it has none. Feeds
    are added: `switch_feed` takes one out. What a person said of a feed or rule by command stays. With *enable*
    harvests take the sites by themselves from now on; without it, as before.
    """
    with database.write() as connection:
        _forget_strays(connection)
        before = _numbers(connection)
        _save_seeds(connection, sources, before, enable=enable)
        numbers = _numbers(connection)
        _save_feeds(connection, [(numbers[source.limits.site], source) for source in sources])
        rules: dict[str, list[UrlRule]] = {}
        content: dict[str, dict[str, str]] = {}
        for source in sources:  # two of them may share a domain: with http and https, or on two ports
            rules.setdefault(source.domain, []).extend(source.rules)
            content.setdefault(source.domain, {}).update(source.content)
        if sources:
            replace_rules(connection, HAND, rules)
            replace_content(connection, content)
    return [SavedSource(numbers[one.limits.site], one, one.limits.site not in before) for one in sources]


def stored_sources(database: Database, sites: Iterable[str] | None = None) -> list[Source]:
    """The enabled seeds by number, or those of *sites*: with all enabled feeds, and with a person's rules."""
    wanted = None if sites is None else frozenset(sites)
    feeds: dict[tuple[int, str], list[str]] = {}
    with database.read() as connection:
        seeds = connection.execute(select(seed).order_by(seed.c.id)).all()
        for row in connection.execute(select(feed).where(feed.c.enabled).order_by(feed.c.is_given.desc(), feed.c.id)):
            feeds.setdefault((row.seed_id, row.kind), []).append(row.url)
    rules, content = rules_by_domain(database), content_rules(database)
    found = []
    for row in seeds:
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
    """Have a feed that a person gives, enabled; return whether it is new. Raises `ConfigError` if it is another's."""
    with database.write() as connection:
        _forget_strays(connection)
        row = connection.execute(select(feed).where(feed.c.url == url)).one_or_none()
        if row is not None and row.seed_id != owner.number:
            raise ConfigError(
                f"{url} is a feed of seed {row.seed_id} already; a feed has one source: add it to that one, or remove "
                "that seed"
            )
        if row is None:
            connection.execute(insert(feed).values(seed_id=owner.number, url=url, kind=kind, is_given=True))
        else:
            connection.execute(update(feed).where(feed.c.id == row.id).values(is_given=True, enabled=True))
    return row is None


def switch_feed(database: Database, owner: Seed, url: str, *, enabled: bool) -> None:
    """Have crawls poll a feed of a seed, or leave it out; raises `ConfigError` if the seed has no such feed.

    It is not deleted: else it would be found again.
    """
    with database.write() as connection:
        is_it = (feed.c.url == url) & (feed.c.seed_id == owner.number)
        if not connection.execute(update(feed).where(is_it).values(enabled=enabled)).rowcount:
            raise ConfigError(
                f"{url} is not a feed of {owner.site}; `scrapy sites feeds {owner.number} --all` shows all of them"
            )


def forget_feeds(database: Database) -> None:
    """Delete the feeds whose seeds were removed, because the number of a seed may be reused."""
    with database.write() as connection:
        _forget_strays(connection)


def list_feeds(database: Database, key_of: Callable[[str], int], owner: int | None = None) -> list[FeedRow]:
    """The feeds of the seed *owner*, or of all: by seed, given ones first.

    *key_of* gives the key by which crawls know a URL.
    """
    statement = (
        select(feed.c.id, seed.c.id, seed.c.site, feed.c.url, feed.c.kind, feed.c.is_given, feed.c.enabled)
        .join(seed, seed.c.id == feed.c.seed_id)
        .order_by(seed.c.id, feed.c.is_given.desc(), feed.c.id)
    )
    if owner is not None:
        statement = statement.where(seed.c.id == owner)
    polls = (
        select(page.c.key, poll.c.polled_at, poll.c.new_items, poll.c.problem)
        .join(page, page.c.id == poll.c.page_id)
        .where(poll.c.kind.in_((FEED, SITEMAP)))
        .order_by(poll.c.polled_at)
    )
    with database.read() as connection:
        latest = {key: tuple(said) for key, *said in connection.execute(polls)}
        return [FeedRow(*row, *latest.get(key_of(row.url), ())) for row in connection.execute(statement)]


def urls_of_feeds(database: Database, owner: int) -> set[str]:
    """The feeds of the seed *owner*, also those that are not enabled."""
    with database.read() as connection:
        return set(connection.execute(select(feed.c.url).where(feed.c.seed_id == owner)).scalars())


def _numbers(connection: Connection) -> dict[str, int]:
    return {row.site: row.id for row in connection.execute(select(seed.c.site, seed.c.id))}


def _save_seeds(connection: Connection, sources: Sequence[Source], known: dict[str, int], *, enable: bool) -> None:
    # A number whose seed was removed is not given again while a crawl of it is kept.
    ever = (connection.execute(select(func.max(column))).scalar() or 0 for column in (seed.c.id, site.c.seed_id))
    free = max(ever) + 1
    new: list[dict[str, Any]] = []
    changed: list[dict[str, Any]] = []
    for source in sources:
        limits = source.limits
        values = {
            "start_url": limits.start_url or f"{limits.site}/",
            "parallel": limits.parallel,
            "max_level": limits.max_level,
            "delay_s": limits.delay_s,
            "hosts": " ".join(source.hosts) or None,
            **{name: getattr(source, name) for name in KEPT},
        }
        number = known.get(limits.site)
        if number is None:
            new.append({**values, "id": free + len(new), "site": limits.site, "enabled": enable})
        else:
            changed.append({**values, "number": number})
    if new:
        connection.execute(insert(seed), new)
        if connection.dialect.name != "sqlite":  # a server counts by itself, and has not seen these numbers
            connection.execute(text("SELECT setval(pg_get_serial_sequence('seed', 'id'), max(id)) FROM seed"))
    if changed:
        said: dict[str, Any] = {name: bindparam(name) for name in LIMITS}
        said |= {name: func.coalesce(bindparam(name, type_=seed.c[name].type), seed.c[name]) for name in KEPT}
        said["is_found"] = False
        if enable:
            said["enabled"] = True
        connection.execute(update(seed).where(seed.c.id == bindparam("number")).values(said), changed)


def _save_feeds(connection: Connection, owned: Iterable[tuple[int, Source]]) -> None:
    known = {row.url: row for row in connection.execute(select(feed))}
    new, changed = [], []
    for number, source in owned:
        for kind, urls in ((FEED, source.feeds), (SITEMAP, source.sitemaps)):
            for url in urls:
                row = known.get(url)
                values = {"seed_id": number, "kind": kind, "is_given": True}
                if row is None:
                    new.append({**values, "url": url})
                elif any(row._mapping[name] != value for name, value in values.items()):
                    changed.append({**values, "feed_id": row.id})
    if new:
        connection.execute(insert(feed), new)
    if changed:
        said: dict[str, Any] = {name: bindparam(name) for name in ("seed_id", "kind", "is_given")}
        connection.execute(update(feed).where(feed.c.id == bindparam("feed_id")).values(said), changed)


def _forget_strays(connection: Connection) -> None:
    connection.execute(delete(feed).where(feed.c.seed_id.not_in(select(seed.c.id))))
