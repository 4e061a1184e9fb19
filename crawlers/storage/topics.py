"""What the store knows of the topic of a crawl, and of the pages that were read for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from crawlers.storage.tables import crawler_setting, page, site, topic_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crawlers.storage.database import Database

TERMS = "TOPIC_TERMS"  # the topic's vector, among the settings of the crawl


def keep_terms(database: Database, crawl_id: int, terms: Mapping[str, float]) -> None:
    """Write down the topic of a crawl, which can't change any more."""
    row = {"crawl_id": crawl_id, "name": TERMS, "value": json.dumps(dict(terms), ensure_ascii=False)}
    with database.write() as connection:
        connection.execute(insert(crawler_setting).values(row))


def terms_of(database: Database, crawl_id: int) -> dict[str, float] | None:
    """The topic of a crawl: its terms with their weights; None if it has none, or not yet."""
    statement = select(crawler_setting.c.value).where(
        crawler_setting.c.crawl_id == crawl_id, crawler_setting.c.name == TERMS
    )
    with database.read() as connection:
        text = connection.execute(statement).scalar()
    return None if text is None else json.loads(text)


def pages_read(database: Database, crawl_id: int) -> Iterator[dict[str, int]]:
    """The terms of the pages that a topic crawl read, in that order."""
    statement = (
        select(topic_page.c.terms)
        .join(page, page.c.id == topic_page.c.page_id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id)
        .order_by(page.c.fetched_at, page.c.id)
    )
    with database.read() as connection:
        for (terms,) in connection.execution_options(yield_per=1_000).execute(statement):
            yield json.loads(terms)
