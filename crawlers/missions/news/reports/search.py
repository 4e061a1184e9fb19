"""Finds documents by words, with SQLite's FTS5 or PostgreSQL's text search. Every input is a valid query."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, text
from sqlalchemy.exc import OperationalError

from crawlers.errors import ConfigError
from crawlers.missions.news.stored.news_tables import SEARCHED, document
from crawlers.reports.catalogue.conditions import is_host
from crawlers.store.schema.tables import site as crawled

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy import Connection, TextClause

    from crawlers.store.database import Database

TITLE_WEIGHT = 5.0  # of a word in the title, against one in the text
SNIPPET_WORDS = 24

_SITES_FTS5 = "(:sites IS NULL OR d.site_id IN (SELECT value FROM json_each(:sites)))"
_SITES_TSVECTOR = (
    "(CAST(:sites AS jsonb) IS NULL OR d.site_id IN "
    "(SELECT value::integer FROM jsonb_array_elements_text(CAST(:sites AS jsonb))))"
)
_FTS5 = text(f"""
    SELECT d.url, d.title, d.published, d.stored_at,
        snippet(document_text, 1, '[', ']', '…', {SNIPPET_WORDS}) AS snippet
    FROM document_text JOIN document AS d ON d.page_id = document_text.rowid JOIN site AS s ON s.id = d.site_id
    WHERE document_text MATCH :words AND (:crawl IS NULL OR s.crawl_id = :crawl) AND {_SITES_FTS5}
    ORDER BY bm25(document_text, {TITLE_WEIGHT}, 1.0), d.page_id LIMIT :most""")  # noqa: S608 - our own numbers
# Headlines are generated only for the shown documents: each reads its whole text.
_TSVECTOR = text(f"""
    SELECT url, title, published, stored_at, ts_headline('simple', left(text, 100000), query,
        'MaxFragments=1, StartSel=[, StopSel=], MinWords=12, MaxWords={SNIPPET_WORDS}, ShortWord=0') AS snippet
    FROM (
        SELECT d.url, d.title, d.published, d.stored_at, d.text, query, d.page_id,
            ts_rank(setweight(to_tsvector('simple', title), 'A') || to_tsvector('simple', left(text, 100000)), query)
                AS rank
        FROM document AS d JOIN site AS s ON s.id = d.site_id, websearch_to_tsquery('simple', :words) AS query
        WHERE {SEARCHED} @@ query AND (CAST(:crawl AS integer) IS NULL OR s.crawl_id = :crawl) AND {_SITES_TSVECTOR}
        ORDER BY rank DESC, d.page_id LIMIT :most
    ) AS found ORDER BY rank DESC, page_id""")  # noqa: S608 - names of our own columns

_MATCHING = {
    "sqlite": "SELECT rowid AS number FROM document_text WHERE document_text MATCH :words",
    "postgresql": f"SELECT page_id AS number FROM document WHERE {SEARCHED} @@ websearch_to_tsquery('simple', :words)",  # noqa: S608
}
_AMONG = {
    "sqlite": "AND rowid IN (SELECT value FROM json_each(:among))",
    "postgresql": (
        "AND page_id = ANY(ARRAY(SELECT value::bigint FROM jsonb_array_elements_text(CAST(:among AS jsonb))))"
    ),
}
_LATEST = "ORDER BY number DESC LIMIT :most"


def search(
    database: Database,
    words: str,
    most: int,
    *,
    site_ids: Collection[int] | None = None,
    crawl_id: int | None = None,
) -> Sequence[Any]:
    """Return at most *most* documents for *words*, best first, of the given sites or crawl only, if any.

    They are rows: the URL, the title, `published` (ISO 8601, or None), `stored_at`, and a `snippet` of the text with
    the words in brackets.

    Raises `ConfigError` if the store has no documents.
    """
    words = _clean(words)
    sites = None if site_ids is None else json.dumps(list(site_ids))
    values = {"words": words, "sites": sites, "crawl": crawl_id, "most": most}
    with database.read() as connection:
        if connection.execute(select(func.min(document.c.page_id))).scalar() is None:
            raise ConfigError(
                f"{database.name} has no documents to search; collect some: scrapy crawl news -a sources=sources.yaml"
            )
        return _executed(connection, _FTS5 if database.is_sqlite else _TSVECTOR, values)


def sites_named(database: Database, wanted: str) -> list[int]:
    """Return the ids, in all crawls, of the sites that *wanted* names: a site, a host, or a domain with its hosts."""
    is_named = is_host(crawled.c.site, wanted.strip().lower().rstrip("/"))
    return list(database.scalars(select(crawled.c.id).where(is_named).order_by(crawled.c.id)))


def matching_documents(connection: Connection, words: str, most: int) -> set[int]:
    """Return the numbers of documents of all crawls with *words*: the latest ones if there are more than *most*."""
    return _numbers(connection, words, _LATEST, most=most)


def matching_among(connection: Connection, words: str, numbers: Sequence[int]) -> set[int]:
    """Return which of the documents with these *numbers* have *words*."""
    return _numbers(connection, words, _AMONG[connection.dialect.name], among=json.dumps(numbers))


def _numbers(connection: Connection, words: str, which: str, **values: Any) -> set[int]:
    statement = text(f"{_MATCHING[connection.dialect.name]} {which}")
    return {number for (number,) in _executed(connection, statement, {"words": _clean(words), **values})}


def _clean(words: str) -> str:
    return words.replace("\0", " ").encode("utf-8", "replace").decode()


def _executed(connection: Connection, statement: TextClause, values: dict[str, Any]) -> Sequence[Any]:
    """Search; SQLite by FTS5 syntax (AND, OR, NOT, NEAR, "…", word*), and word by word if that is invalid."""
    try:
        return connection.execute(statement, values).all()
    except OperationalError:
        if connection.dialect.name != "sqlite":
            raise
        plain = " ".join('"' + word.replace('"', '""') + '"' for word in values["words"].split())
        return connection.execute(statement, values | {"words": plain or '""'}).all()
