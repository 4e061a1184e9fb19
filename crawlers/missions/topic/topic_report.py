"""The pages of a topic crawl by their similarity to the topic, and what the summary of the crawl says of them."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, true

from crawlers.files.csv_tables import cut
from crawlers.missions.topic.topic_file import most_similar_first
from crawlers.missions.topic.topic_tables import relevance, topic_page
from crawlers.missions.topic.vectors import distance_relevance
from crawlers.reports.catalogue.conditions import Filters, is_wanted_site, of_page
from crawlers.reports.catalogue.index_walk import PLACES, in_order, place_of, value_steps
from crawlers.reports.catalogue.page_reports import LEVEL, TITLE, URL, links_to
from crawlers.reports.catalogue.report import Column, Group, Kind, Report, Row, Step, rows_of
from crawlers.reports.catalogue.score_reports import write_ranked
from crawlers.reports.crawl_summary import REASON_CHARS, MissionSummary, pages_summary
from crawlers.store.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.report import Cells, Cursor, Related
    from crawlers.store.database import Database
    from crawlers.store.reading.crawl_results import CrawlResults
    from crawlers.store.reading.queries import NamedCrawl

MAX_PAGES = 3  # of a summary
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
    cursor_kinds = PLACES
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


def write_topic_list(database: Database, crawl_id: int, path: Path) -> int:
    """Write the report `topic-pages` of a crawl to *path*, equally similar pages by URL; see `write_ranked`."""
    report = TopicPages()
    by_url = itemgetter([column.name for column in report.columns].index("url"))
    with database.read() as connection:
        rows = (row.cells for row in rows_of(report.steps(connection, crawl_id, Filters(), None)))
        ties = groupby(rows, key=itemgetter(0))
        return write_ranked(path, report.columns, (row for _, some in ties for row in sorted(some, key=by_url)))


def topic_summary(database: Database, crawl: NamedCrawl, results: CrawlResults, began_at: float) -> MissionSummary:
    """Return the results of any crawl, and the most relevant pages."""
    with database.read() as connection:
        ranked = most_similar_first(crawl.id, topic_page.c.similarity, page.c.url).limit(MAX_PAGES)
        best = connection.execute(ranked).all()
    lines = [f"Most relevant: {similarity:.3f} {cut(url, REASON_CHARS)}" for similarity, url in best]
    return pages_summary(database, crawl, results, began_at)._replace(lines=lines)
