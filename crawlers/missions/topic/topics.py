"""Reads and writes the topic of a crawl, reads its pages, and computes their final similarities."""

from __future__ import annotations

import json
import math
from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, collate, delete, select, update

from crawlers.missions.topic.terms import AUTO
from crawlers.missions.topic.topic_tables import topic_page
from crawlers.missions.topic.vectors import STRATEGIES, DocumentFrequencies, Topic, Weights
from crawlers.store.reading.crawl_settings import setting_of
from crawlers.store.schema.tables import SettingRow, crawler_setting, page, site

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy import Connection, Select

    from crawlers.store.database import Database


TERMS = "TOPIC_TERMS"  # the topic's vector, stored like a setting of the crawl
TOPIC_SETTING = "TOPIC"  # the topic as given, in short form, stored like a setting; the last item is its language


def topic_terms(crawl_id: int, terms: Mapping[str, float]) -> SettingRow:
    """Return the row of the topic of a crawl, which must not change any more."""
    return SettingRow(crawl_id, TERMS, json.dumps(dict(terms), ensure_ascii=False))


def terms_of(database: Database, crawl_id: int) -> dict[str, float] | None:
    """Return the terms of a crawl's topic with their weights; None if it has no topic, or not yet."""
    text = database.scalar(setting_of(crawl_id, TERMS))
    return None if text is None else json.loads(text)


def language_of(database: Database, crawl_id: int) -> str:
    """Return the language of a crawl's topic, for `Terms`."""
    text = database.scalar(setting_of(crawl_id, TOPIC_SETTING))
    return AUTO if text is None else str(json.loads(text)[-1])


def weights_of(connection: Connection, crawl_id: int) -> Weights | None:
    """Return the weights of the scores of a topic crawl; None if the crawl has no topic."""
    text = connection.scalar(setting_of(crawl_id, TOPIC_SETTING))
    return None if text is None else Weights(*json.loads(text)[2])


def topic_change(before: str, today: str) -> tuple[str, str]:
    """Return what the topic of an unfinished crawl is *today*, and what it was *before*, as far as they differ."""
    keywords, examples, weights, language = json.loads(today)
    *others, weights_before, language_before = json.loads(before)
    if [keywords, examples, language] != [*others, language_before]:
        return "the keywords, examples or language of the topic changed", "another topic"
    return f"the strategy is {_strategy(weights)}", _strategy(weights_before)


def _strategy(weights: Sequence[float]) -> str:
    """Return the strategy that gives these weights, or the weights if no strategy has them."""
    named = [name for name, one in STRATEGIES.items() if one == Weights(*weights)]
    return named[0] if named else ", ".join(f"{one:g}" for one in weights)


def forget_topic(connection: Connection, crawl_id: int) -> None:
    """Allow a crawl that has not read a page yet to continue with another topic."""
    its = (crawler_setting.c.crawl_id == crawl_id, crawler_setting.c.name == TOPIC_SETTING)
    connection.execute(delete(crawler_setting).where(*its))


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


class PageTerms(NamedTuple):
    """A page that was read, with its term frequencies."""

    id: int
    url: str
    terms: dict[str, int]


def read_pages(database: Database, crawl_id: int) -> Iterator[PageTerms]:
    """Yield the pages that a topic crawl read, in the order of their downloads."""
    statement = (
        select(page.c.id, page.c.url, topic_page.c.terms)
        .join(page, page.c.id == topic_page.c.page_id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id)
        .order_by(page.c.fetched_at, page.c.id)
    )
    with database.read() as connection:
        for number, url, terms in connection.execution_options(yield_per=1_000).execute(statement):
            yield PageTerms(number, url, json.loads(terms))


DECIMALS = 12  # further digits depend on the processor (logarithm, square root)
PAGES_AT_ONCE = 500  # rows read and written together: the terms of a page take some kilobytes


def store_similarities(database: Database, crawl_id: int) -> float | None:
    """Store the similarity of each page of a topic crawl to its topic, with the document frequencies of all its pages.

    So the similarities depend on which pages were read, but not on their order. Runs in one transaction, with the
    vocabulary in memory. Returns their mean, or None if the crawl has no topic and so no pages. Raises `StoreError`.
    """
    terms = terms_of(database, crawl_id)
    if terms is None:
        return None
    topic = Topic(terms)
    seen = DocumentFrequencies(counts for pages in _pages(database, crawl_id) for _, counts in pages)
    statement = (
        update(topic_page)
        .where(topic_page.c.page_id == bindparam("settled_id"))
        .values(similarity=bindparam("settled_similarity"))
    )
    settled = array("d")
    with database.write() as connection:
        for pages in _pages(database, crawl_id):
            rows = []
            for page_id, counts in pages:
                similarity = round(topic.tf_idf_similarity(counts, seen), DECIMALS)
                rows.append({"settled_id": page_id, "settled_similarity": similarity})
                settled.append(similarity)
            connection.execute(statement, rows)
    return math.fsum(settled) / max(len(settled), 1)


def _pages(database: Database, crawl_id: int) -> Iterator[list[tuple[int, dict[str, int]]]]:
    """Yield the pages that were read, with their terms, in blocks of `PAGES_AT_ONCE`."""
    statement = (
        select(topic_page.c.page_id, topic_page.c.terms)
        .join(page, page.c.id == topic_page.c.page_id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id)
    )
    with database.read() as connection:
        rows = connection.execution_options(yield_per=PAGES_AT_ONCE).execute(statement)
        for some in rows.partitions(PAGES_AT_ONCE):
            yield [(page_id, json.loads(terms)) for page_id, terms in some]
