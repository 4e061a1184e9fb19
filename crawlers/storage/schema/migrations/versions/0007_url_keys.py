"""Rules for the keys of URLs: parameters without a value count, escapes of unreserved characters do not. Frozen, like
every migration.

An unfinished crawl records the rules that it began with, so it is resumed with these settings or not at all. The other
keys of the URLs concerned, which crawls share, stand for the rules of no crawl from now on: an external URL counts by
itself, and a document is recognised by its text.
"""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

BEFORE = {"URL_DROP_VALUELESS_PARAMETERS": "True", "URL_DECODE_UNRESERVED": "False"}
NAMES = "URL_IGNORED_PARAMETERS"
CHANGED = re.compile(r"\?(?:[^#]*&)?[^=&#]+(?:[&#]|$)|%(?:2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])", re.I)
BATCH = 10_000


def upgrade() -> None:
    connection = op.get_bind()
    crawl = sa.table("crawl", sa.column("id"), sa.column("state"))
    setting = sa.table("crawler_setting", sa.column("crawl_id"), sa.column("name"), sa.column("value"))
    open_ones = connection.execute(sa.select(crawl.c.id).where(crawl.c.state != "finished")).scalars().all()
    rows = [{"crawl_id": one, "name": name, "value": value} for one in open_ones for name, value in BEFORE.items()]
    if rows:
        connection.execute(sa.insert(setting), rows)
    # Now recorded in one notation, that of the default.
    connection.execute(sa.delete(setting).where(setting.c.name == NAMES, sa.not_(setting.c.value.startswith("["))))

    external = sa.table("external_url", sa.column("id"), sa.column("url"), sa.column("key"))
    for batch in _changed(connection, external.c.id, external.c.url):
        connection.execute(sa.update(external).where(external.c.id.in_(batch)).values(key=external.c.id))
    document = sa.table("document", sa.column("page_id"), sa.column("url"))
    key = sa.table("document_key", sa.column("page_id"))
    # The keys have no index by page, so all are read once.
    doomed = [page for batch in _changed(connection, document.c.page_id, document.c.url) for page in batch]
    for start in range(0, len(doomed), BATCH):
        connection.execute(sa.delete(key).where(key.c.page_id.in_(doomed[start : start + BATCH])))


def _changed(connection: sa.Connection, number: sa.ColumnClause[Any], url: sa.ColumnClause[Any]) -> list[list[int]]:
    """Return, in batches, the numbers of the rows whose URL has another key now."""
    rows = sa.select(number, url).where(url.contains("?") | url.contains("%", autoescape=True))
    found = [row[0] for row in connection.execute(rows.execution_options(yield_per=BATCH)) if CHANGED.search(row[1])]
    return [found[start : start + BATCH] for start in range(0, len(found), BATCH)]
