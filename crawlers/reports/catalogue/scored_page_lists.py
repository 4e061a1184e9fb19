"""The pages of a crawl by what its order found out about them: similarity to the topic, importance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select, true

from crawlers.algorithms.topic.vectors import distance_relevance
from crawlers.reports.catalogue.computed_report import ComputedReport
from crawlers.reports.catalogue.crawl_report import Column, Group, Kind, Report, Row, Step
from crawlers.reports.catalogue.crawl_scope import BROAD, TOPIC, is_wanted_site, page_conditions
from crawlers.reports.catalogue.page_list import links_to
from crawlers.reports.catalogue.value_walk import PLACES, ValueWalk, in_order, place_of
from crawlers.storage.importance import totals_of, weights_of_crawl
from crawlers.storage.schema.score_tables import relevance, topic_page
from crawlers.storage.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.computed_report import Cells
    from crawlers.reports.catalogue.crawl_report import Cursor, Related
    from crawlers.reports.catalogue.filters import Filters
    from crawlers.storage.files.cells import Value

DECIMALS = 6  # of similarities and scores, for readers; the store and the graph have more
TOPIC_COLUMNS = (
    Column("similarity", "Similarity", Kind.DECIMAL),
    Column("url", "URL", Kind.URL),
    Column("title", "Title"),
    Column("level", "Level", Kind.NUMBER),
    Column("score", "Score", Kind.DECIMAL),  # as of the download; the scores are empty in other orders
    Column("anchor", "Score of its link texts", Kind.DECIMAL),  # R_a
    Column("distance", "Score of its distance", Kind.DECIMAL),  # R_d
    Column("timely_rank", "Logarithm of its rank", Kind.DECIMAL),  # TR
    Column("read_at", "Read", Kind.TIME),
)
TOPIC_VALUES = (  # from which `topic_cells` makes the cells of these columns
    topic_page.c.similarity,
    page.c.url,
    page.c.title,
    page.c.level,
    relevance.c.score,
    relevance.c.anchor,
    relevance.c.level,
    relevance.c.rank,
    page.c.fetched_at,
)


def topic_cells(
    similarity: float,
    url: str,
    title: str | None,
    level: int,
    score: float | None,
    anchor: float | None,
    scored_level: int | None,
    rank: float | None,
    fetched_at: float | None,
) -> tuple[Value, ...]:
    """Return the cells of `TOPIC_COLUMNS`."""
    distance = None if scored_level is None else distance_relevance(scored_level)
    parts = (None if part is None else round(part, DECIMALS) for part in (score, anchor, distance, rank))
    return (round(similarity, DECIMALS), url, title, level, *parts, fetched_at)


class TopicPages(Report):
    """Pages by similarity to the topic."""

    name = "topic-pages"
    title = "Pages by similarity"
    group = Group.CONTENTS
    about = "The pages that a topic crawl read, the most similar to its topic first, with the score that chose each."
    columns = TOPIC_COLUMNS
    filters = frozenset({"site", "text", "level"})
    missions = TOPIC
    cursor_ranges = PLACES
    empty = "A topic crawl compares each page that it reads with its topic; this one has not read any yet."

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        walk = ValueWalk(connection, topic_page.c.similarity, topic_page.c.page_id, [[true()]])
        statement = (
            select(topic_page.c.page_id, *TOPIC_VALUES)
            .join(page, page.c.id == topic_page.c.page_id)
            .join(site, site.c.id == page.c.site_id)
            .outerjoin(relevance, relevance.c.page_id == page.c.id)
            .where(is_wanted_site(crawl_id, filters), *page_conditions(filters))
        )
        for places, following in walk.steps(place_of(after) if after is not None else None):
            numbers = [one.number for one in places]
            rows = connection.execute(statement.where(topic_page.c.page_id.in_(numbers))).all()
            found = [Row(topic_cells(*one[1:]), at.cursor) for at, one in in_order(rows, places, "page_id")]
            yield Step(found, following.cursor if following is not None else None)

    def related(self, cells: tuple[Value, ...]) -> Related | None:
        return links_to(cells[1])


class ImportantPages(ComputedReport):
    """Pages by importance."""

    name = "important-pages"
    title = "Important pages"
    group = Group.CONTENTS
    about = "The pages with the largest shares of the cash of OPIC, the online estimate of their importance."
    columns = (
        Column("importance", "Importance", Kind.DECIMAL),
        Column("url", "URL", Kind.URL),
        Column("title", "Title"),
        Column("level", "Level", Kind.NUMBER),
        Column("status", "HTTP status", Kind.NUMBER),
        Column("found_at", "Found", Kind.TIME),
        Column("requested_at", "Requested", Kind.TIME),
        Column("site", "Site"),
    )
    filters = frozenset({"site", "text", "level", "status"})
    missions = BROAD
    most = 10_000  # whoever wants more reads all pages
    empty = (
        "Crawls with ORDER=aopic or ORDER=opic measure the importance of the pages that they read, as broad ones do."
    )

    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        totals = totals_of(connection, crawl_id)
        if totals is None:
            return
        weighed = weights_of_crawl(connection, crawl_id, totals)
        statement = (
            select(
                weighed.c.weight,
                page.c.url,
                page.c.title,
                page.c.level,
                page.c.status,
                page.c.found_at,
                page.c.fetched_at,
                site.c.site,
            )
            .join(page, page.c.id == weighed.c.page_id)
            .join(site, site.c.id == page.c.site_id)
            .where(is_wanted_site(crawl_id, filters), *page_conditions(filters))
            .order_by(weighed.c.weight.desc(), page.c.id)
            .limit(self.most + 1)
        )
        for weight, *about in connection.execute(statement):
            yield (totals.share(weight), *about)

    def related(self, cells: Cells) -> Related | None:
        return links_to(cells[1])
