"""Reads and writes the topic of a crawl, and reads the pages of a topic crawl."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import collate, select

from crawlers.algorithms.topic.terms import AUTO
from crawlers.storage.schema.score_tables import topic_page
from crawlers.storage.schema.tables import LostSetting, SettingRow, crawler_setting, page, site
from crawlers.storage.topic.topic_web import links_of, read_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection, Select

    from crawlers.algorithms.topic.link_learner import Links
    from crawlers.storage.database import Database

TERMS = "TOPIC_TERMS"  # the topic's vector, stored like a setting of the crawl
TOPIC = "TOPIC"  # the topic as given, in short form, stored like a setting; the last item is its language


def topic_terms(crawl_id: int, terms: Mapping[str, float]) -> SettingRow:
    """Return the row of the topic of a crawl, which must not change any more."""
    return SettingRow(crawl_id, TERMS, json.dumps(dict(terms), ensure_ascii=False))


def terms_of(database: Database, crawl_id: int) -> dict[str, float] | None:
    """Return the terms of a crawl's topic with their weights; None if it has no topic, or not yet."""
    text = _recorded(database, crawl_id, TERMS)
    return None if text is None else json.loads(text)


def language_of(database: Database, crawl_id: int) -> str:
    """Return the language of a crawl's topic, for `Terms`."""
    text = _recorded(database, crawl_id, TOPIC)
    return AUTO if text is None else str(json.loads(text)[-1])


def _recorded(database: Database, crawl_id: int, name: str) -> str | None:
    statement = select(crawler_setting.c.value).where(
        crawler_setting.c.crawl_id == crawl_id, crawler_setting.c.name == name
    )
    with database.read() as connection:
        return connection.execute(statement).scalar()


def forgotten_topic(crawl_id: int) -> LostSetting:
    """Return the row that allows a crawl that has not read a page yet to continue with another topic."""
    return LostSetting(crawl_id, TOPIC)


def pages_read(
    database: Database, crawl_id: int, *, with_links: bool = False
) -> Iterator[tuple[str, dict[str, int], Links]]:
    """Yield URL, terms and, with *with_links*, link texts of the pages that a topic crawl read, in that order."""
    with database.read() as connection:
        for read in read_pages(database, crawl_id):
            found = links_of(connection, read.id).values() if with_links else ()
            yield read.url, read.terms, {link.url: link.texts for link in found if link.texts}


def most_similar_first(connection: Connection, crawl_id: int, *columns: Any) -> Select[Any]:
    """Return the query for *columns* of the pages that a topic crawl read, most similar first, then by URL."""
    # PostgreSQL sorts text by the database's language; results must not depend on it.
    url = page.c.url if connection.dialect.name == "sqlite" else collate(page.c.url, "C")
    return (
        select(*columns)
        .select_from(topic_page)
        .join(page, page.c.id == topic_page.c.page_id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id)
        .order_by(topic_page.c.similarity.desc(), url)
    )
