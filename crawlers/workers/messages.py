"""Messages between the workers of a crawl: links to pages of sites that the worker who found them does not hold.

A message is written in the transaction of the page with the link (`Message`). Whoever holds the site of the target
reads it in a round, and deletes it in the transaction that stores the link and discovers the page (`TakenMessage`). So
a worker that is killed neither loses a message nor takes it up twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, select, true

from crawlers.store.schema.tables import site
from crawlers.workers.message_tables import Message, message

if TYPE_CHECKING:
    from sqlalchemy import Connection


def of_worker(connection: Connection, crawl_id: int, worker_id: int, limit: int) -> list[Message]:
    """Return the first *limit* messages to sites that a worker holds, in order."""
    held = site.c.worker_id == worker_id
    of_site = (message.c.crawl_id == crawl_id, message.c.site_id == site.c.id)
    if connection.dialect.name == "postgresql":
        # A join would be planned for any worker, as a scan of all messages of the crawl.
        sent = select(message).where(*of_site).order_by(message.c.id).limit(limit).lateral()
        joined, columns = site.join(sent, true()), sent.c
    else:
        joined, columns = site.join(message, and_(*of_site)), message.c
    named = [site.c.site if name == "site" else columns[name] for name in Message._fields]
    rows = select(*named).select_from(joined).where(site.c.crawl_id == crawl_id, held)
    return [Message(*row) for row in connection.execute(rows.order_by(columns.id).limit(limit))]
