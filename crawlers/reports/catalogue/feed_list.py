"""The feeds and sitemaps that a news crawl reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from crawlers.algorithms.ranking.page_scores import REVISIT
from crawlers.items import FEED, SITEMAP
from crawlers.reports.catalogue.crawl_report import NUMBERS, PAGE_NUMBERS, Column, Group, Kind, Report, Row, Step
from crawlers.reports.catalogue.crawl_scope import NEWS, is_wanted_site
from crawlers.reports.catalogue.text_filter import contains
from crawlers.storage.schema.news_tables import poll
from crawlers.storage.schema.score_tables import news_score
from crawlers.storage.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.crawl_report import Cursor
    from crawlers.reports.catalogue.filters import Filters
    from crawlers.storage.files.cells import Value

FEEDS_AT_ONCE = 1000
KINDS = (FEED, SITEMAP)  # in the order of the index
_END = 2**63 - 1  # after all feeds of a kind


class Feeds(Report):
    """Feeds and sitemaps by site."""

    name = "feeds"
    title = "Feeds and sitemaps"
    group = Group.CONTENTS
    about = (
        "Where the sites of a news crawl announce their articles: when each was read, with what, and when it is next."
    )
    columns = (
        Column("url", "URL", Kind.URL),
        Column("kind", "Kind", Kind.WORDS),
        Column("read_at", "Last read", Kind.TIME),
        Column("status", "HTTP status", Kind.NUMBER),
        Column("reason", "Problem", Kind.WORDS),
        Column("failures", "Failures in a row", Kind.NUMBER),
        Column("items", "New items", Kind.NUMBER),
        Column("newest_at", "Last new item", Kind.TIME),
        Column("polls", "Times read", Kind.NUMBER),
        Column("next_at", "Next visit", Kind.TIME),
        Column("site", "Site"),
    )
    filters = frozenset({"site", "text", "kind", "status", "reason"})
    missions = NEWS
    cursor_ranges = (NUMBERS, range(len(KINDS)), PAGE_NUMBERS)  # site, place of the kind, page
    empty = "A news crawl looks for feeds on the pages of its sites; or add one: scrapy sites add-feed SITE URL"

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        columns = (
            *(poll.c.page_id, poll.c.site_id, poll.c.kind, poll.c.polled_at, poll.c.problem, poll.c.failures),
            *(poll.c.new_items, poll.c.newest_at, poll.c.polls, poll.c.due_at, page.c.url, page.c.status),
            *(site.c.site, news_score.c.queue),
        )
        statement = (
            select(*columns)
            .join(page, page.c.id == poll.c.page_id)
            .join(site, site.c.id == poll.c.site_id)
            .outerjoin(news_score, news_score.c.page_id == poll.c.page_id)
            .order_by(poll.c.page_id)
        )
        if filters.text:
            statement = statement.where(contains(page.c.url, filters.text))
        if filters.reason:
            statement = statement.where(contains(poll.c.problem, filters.reason))
        if filters.status is not None:
            statement = statement.where(page.c.status == filters.status)
        for place in self._places(connection, crawl_id, filters, after):
            while page_ids := self._following(connection, place):
                rows = connection.execute(statement.where(poll.c.page_id.in_(page_ids)))
                place = place._replace(page_id=page_ids[-1])
                yield Step([Row(_cells(one), place._replace(page_id=one.page_id)) for one in rows], place)
                if len(page_ids) < FEEDS_AT_ONCE:
                    break
            yield Step([], place._replace(page_id=_END))
        yield Step([], None)

    def _places(
        self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None
    ) -> Iterator[_Place]:
        """Yield where the feeds and the sitemaps of each site begin, or go on."""
        here = _Place(*after) if after is not None else _Place(0, 0, 0)
        statement = select(site.c.id).where(is_wanted_site(crawl_id, filters), site.c.id >= here.site_id)
        for site_id in connection.execute(statement.order_by(site.c.id)).scalars().all():
            for kind, name in enumerate(KINDS):
                place = max(here, _Place(site_id, kind, 0))
                if filters.kind in ("", name) and place[:2] == (site_id, kind) and place.page_id != _END:
                    yield place

    def _following(self, connection: Connection, place: _Place) -> list[int]:
        """Return the next feeds from the index alone."""
        is_it = (
            (poll.c.site_id == place.site_id) & (poll.c.kind == KINDS[place.kind]) & (poll.c.page_id > place.page_id)
        )
        statement = select(poll.c.page_id).where(is_it).order_by(poll.c.page_id).limit(FEEDS_AT_ONCE)
        return list(connection.execute(statement).scalars())


class _Place(NamedTuple):
    """A feed: its cursor."""

    site_id: int
    kind: int  # of `KINDS`
    page_id: int


def _cells(one: Any) -> tuple[Value, ...]:
    is_due = one.queue == REVISIT
    return (
        one.url,
        one.kind,
        one.polled_at,
        one.status,
        one.problem,
        one.failures,
        one.new_items,
        one.newest_at,
        one.polls,
        one.due_at if is_due else None,
        one.site,
    )
