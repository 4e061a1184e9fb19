"""The weights with which the order of a crawl began to learn.

They are a part of the crawl: whatever becomes of their file, and of those that come with the project, it makes the same
choices when it is resumed, on other machines, and when it is explained.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from crawlers.storage.schema.tables import crawler_setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from crawlers.algorithms.ranking.link_prior import LinkWeights

FIRST_WEIGHTS = "LINK_WEIGHTS"  # stored like a setting


def keep_first_weights(connection: Connection, crawl_id: int, first: Callable[[], LinkWeights]) -> None:
    """Store what *first* returns, unless the crawl has weights; raises what *first* raises."""
    if _stored(connection, crawl_id) is None:
        text = json.dumps(first(), sort_keys=True)
        connection.execute(insert(crawler_setting).values(crawl_id=crawl_id, name=FIRST_WEIGHTS, value=text))


def first_weights_of(connection: Connection, crawl_id: int) -> LinkWeights:
    """Return the weights with which a crawl began; none if its order does not learn from links."""
    text = _stored(connection, crawl_id)
    weights: LinkWeights = {} if text is None else json.loads(text)
    return weights


def _stored(connection: Connection, crawl_id: int) -> str | None:
    of_crawl = (crawler_setting.c.crawl_id == crawl_id, crawler_setting.c.name == FIRST_WEIGHTS)
    return connection.execute(select(crawler_setting.c.value).where(*of_crawl)).scalar()
