"""The pages of a crawl by what its order found out about them: similarity to the topic, importance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select, true

from crawlers.missions.topic.vectors import distance_relevance
from crawlers.reports.catalogue.conditions import BROAD, TOPIC, by_code_points, is_wanted_site, of_page
from crawlers.reports.catalogue.index_walk import PLACES, in_order, place_of, value_steps
from crawlers.reports.catalogue.page_reports import FOUND, LEVEL, REQUESTED, SITE, STATUS, TITLE, URL, links_to
from crawlers.reports.catalogue.report import ComputedReport, Group, Report, Row, Step
from crawlers.reports.catalogue.table import Column, Kind
from crawlers.store.reading.importance import totals_of, weights_of_crawl
from crawlers.store.schema.score_tables import relevance, topic_page
from crawlers.store.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, FromClause, Select

    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.report import Cursor, Related
    from crawlers.reports.catalogue.table import Cells

DECIMALS = 6  # of similarities and scores, for readers; the store and the graph have more


class TopicPages(Report):
    """Pages by similarity to the topic."""

    name = "topic-pages"
    title = "Pages by similarity"
    group = Group.CONTENTS
    about = "The pages that a topic crawl read, the most similar to its topic first, with the score that chose each."
    columns = (
        Column("similarity", "Similarity", Kind.DECIMAL, topic_page.c.similarity, "to the topic, from 0 to 1"),
        URL,
        TITLE,
        LEVEL,
        Column("score", "Score", Kind.DECIMAL, relevance.c.score, "as of the download; empty in other orders"),
        Column("anchor", "Score of its link texts", Kind.DECIMAL, relevance.c.anchor, "R_a"),
        Column("distance", "Score of its distance", Kind.DECIMAL, relevance.c.level, "R_d"),
        Column("timely_rank", "Logarithm of its rank", Kind.DECIMAL, relevance.c.rank, "TR"),
        Column("read_at", "Read", Kind.TIME, page.c.fetched_at),
    )
    conditions = of_page("text", "level")
    missions = TOPIC
    cursor_ranges = PLACES
    order = "-similarity"
    empty = "A topic crawl compares each page that it reads with its topic; this one has not read any yet."

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        statement = (
            select(topic_page.c.page_id, *self.values)
            .join(page, page.c.id == topic_page.c.page_id)
            .join(site, site.c.id == page.c.site_id)
            .outerjoin(relevance, relevance.c.page_id == page.c.id)
            .where(is_wanted_site(crawl_id, filters), *self.met(filters))
        )
        place, key = place_of(after) if after is not None else None, (topic_page.c.similarity, topic_page.c.page_id)
        for places, following in value_steps(connection, key, [[true()]], place):
            numbers = [one.number for one in places]
            rows = connection.execute(statement.where(topic_page.c.page_id.in_(numbers))).all()
            found = [Row(_topic_cells(one[1:]), at.cursor) for at, one in in_order(rows, places, "page_id")]
            yield Step(found, following.cursor if following is not None else None)

    def related(self, cells: Cells) -> Related | None:
        return links_to(cells[1])


def _topic_cells(values: Sequence[Any]) -> Cells:
    similarity, url, title, level, score, anchor, scored_level, rank, fetched_at = values
    distance = None if scored_level is None else distance_relevance(scored_level)
    parts = (None if part is None else round(part, DECIMALS) for part in (score, anchor, distance, rank))
    return (round(similarity, DECIMALS), url, title, level, *parts, fetched_at)


class ImportantPages(ComputedReport):
    """Pages by importance."""

    name = "important-pages"
    title = "Important pages"
    group = Group.CONTENTS
    about = "The pages with the largest shares of the cash of OPIC, the online estimate of their importance."
    columns = (
        Column("importance", "Importance", Kind.DECIMAL, about="its share of the cash"),
        URL,
        TITLE,
        LEVEL,
        STATUS,
        FOUND,
        REQUESTED,
        SITE,
    )
    conditions = of_page("text", "level", "status")
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
        conditions = (is_wanted_site(crawl_id, filters), *self.met(filters))
        statement = by_score(weighed, *self.values[1:]).where(*conditions).limit(self.most + 1)
        for weight, *about in connection.execute(statement):
            yield (totals.share(weight), *about)

    def related(self, cells: Cells) -> Related | None:
        return links_to(cells[1])


def by_score(scores: FromClause, *values: ColumnElement[Any]) -> Select[Any]:
    """Return the query for the score and the *values* of the pages in *scores*, the best first, equal ones by URL."""
    pages = select(scores.c.score, *values).join(page, page.c.id == scores.c.page_id)
    return pages.join(site, site.c.id == page.c.site_id).order_by(scores.c.score.desc(), by_code_points(page.c.url))
