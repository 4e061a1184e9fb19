"""The link prior of a crawl, the weights with which its order began to learn.

It is a part of the crawl: whatever becomes of its file, and of the one that comes with the project, the crawl makes the
same choices when it is resumed, on other machines, and when it is explained.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from crawlers.storage.schema.tables import crawler_setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from crawlers.algorithms.ranking.link_prior import LinkPrior

WEIGHTS = "LINK_WEIGHTS"  # stored like a setting; LINK_PRIOR is their name


def keep_link_prior(connection: Connection, crawl_id: int, first: Callable[[], LinkPrior]) -> None:
    """Store what *first* returns, unless the crawl has weights; raises what *first* raises."""
    if _stored(connection, crawl_id) is None:
        text = json.dumps(first(), sort_keys=True)
        connection.execute(insert(crawler_setting).values(crawl_id=crawl_id, name=WEIGHTS, value=text))


def stored_link_prior(connection: Connection, crawl_id: int) -> LinkPrior:
    """Return the link prior of a crawl; no weights if its order does not learn from links."""
    text = _stored(connection, crawl_id)
    weights: LinkPrior = {} if text is None else json.loads(text)
    return weights


def _stored(connection: Connection, crawl_id: int) -> str | None:
    of_crawl = (crawler_setting.c.crawl_id == crawl_id, crawler_setting.c.name == WEIGHTS)
    return connection.execute(select(crawler_setting.c.value).where(*of_crawl)).scalar()
