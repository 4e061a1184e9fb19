"""The link prior of a crawl, the weights with which its order began to learn.

It is a part of the crawl: whatever becomes of its file, and of the one that comes with the project, the crawl makes the
same choices when it is resumed, on other machines, and when it is explained.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.crawl_settings import setting_of
from crawlers.storage.schema.tables import SettingRow

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from crawlers.algorithms.ranking.link_prior import LinkPrior

WEIGHTS = "LINK_WEIGHTS"  # stored like a setting; LINK_PRIOR is their name


def keep_link_prior(connection: Connection, crawl_id: int, first: Callable[[], LinkPrior]) -> None:
    """Store what *first* returns, unless the crawl has weights; raises what *first* raises."""
    if connection.scalar(setting_of(crawl_id, WEIGHTS)) is None:
        text = json.dumps(first(), sort_keys=True)
        write_changes(connection, ChangeSet(SettingRow(crawl_id, WEIGHTS, text)))


def stored_link_prior(connection: Connection, crawl_id: int) -> LinkPrior:
    """Return the link prior of a crawl; no weights if its order does not learn from links."""
    text = connection.scalar(setting_of(crawl_id, WEIGHTS))
    weights: LinkPrior = {} if text is None else json.loads(text)
    return weights
