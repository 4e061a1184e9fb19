"""What the summary of a crawl says about the pages on its topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.files.csv_tables import cut
from crawlers.missions.topic.topic_file import most_similar_first
from crawlers.missions.topic.topic_tables import topic_page
from crawlers.reports.crawl_summary import REASON_CHARS, MissionSummary, pages_summary
from crawlers.store.schema.tables import page

if TYPE_CHECKING:
    from crawlers.store.database import Database
    from crawlers.store.reading.crawl_results import CrawlResults
    from crawlers.store.reading.queries import NamedCrawl

MAX_PAGES = 3


def topic_summary(database: Database, crawl: NamedCrawl, results: CrawlResults, began_at: float) -> MissionSummary:
    """Return the results of any crawl, and the most relevant pages."""
    with database.read() as connection:
        ranked = most_similar_first(crawl.id, topic_page.c.similarity, page.c.url).limit(MAX_PAGES)
        best = connection.execute(ranked).all()
    lines = [f"Most relevant: {similarity:.3f} {cut(url, REASON_CHARS)}" for similarity, url in best]
    return pages_summary(database, crawl, results, began_at)._replace(lines=lines)
