"""Reads what the store knows of a site, before a frontier opens it.

Reading takes a second for some hundred thousand URLs, so any thread may do it; opening the site then only fills memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from crawlers.algorithms.ranking.news_scores import NewsScores
from crawlers.frontier.frontier_store import QueueHead, SiteStart
from crawlers.frontier.queues.bounded_queue import NONE
from crawlers.frontier.site_queue import share
from crawlers.frontier.url_cache import KnownUrls
from crawlers.items import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlers.algorithms.ranking.page_orders import PageOrder
    from crawlers.frontier.frontier_store import ScoredFrontierStore
    from crawlers.frontier.protocols import Counts

CHUNK = 5_000  # known URLs per query; to parse so many holds the interpreter for a millisecond or two
LEAST_KEY, GREATEST_KEY = -(2**63), 2**63 - 1


_NOTHING = np.empty(0, np.int64)
NOTHING_STORED = SiteStart(known=KnownUrls(_NOTHING, _NOTHING, {}))


def read_start(
    store: ScoredFrontierStore,
    order: PageOrder,
    site_id: int,
    *,
    room: int,
    head_urls: int,
    has_pulls: bool,
    is_divided: bool = False,
) -> SiteStart:
    """Return what the *store* has committed of a site. Any thread may call it.

    *room* is the number of URLs that can be known in memory, *head_urls* that of waiting ones; pulls are read if the
    crawl *has_pulls*. If the *order* has scores, these determine what waits.
    """
    rule = order.groups()
    if rule is not None and has_pulls:
        for group, reward in store.pulls(site_id):
            rule.started(group)
            rule.rewarded(group, reward)
    counts, known, is_available, has_retries = _read_known(store, site_id, room)
    retries = store.retries(site_id) if has_retries else ()
    if order.scores is not None:
        start = SiteStart(counts, known, is_available, retries=retries, rule=rule)
        if not is_divided:
            return start
        table, columns = order.scores.table, order.scores.columns
        scored = list(store.scored(table, columns, site_id))
        unscored = store.unscored(table, site_id)
        due = store.due(site_id) if isinstance(order.scores, NewsScores) else ()
        return replace(start, scored=scored, unscored=unscored, due=due, base=store.bases(site_id).get(site_id))
    names: list[str] = []
    groups = [0] if counts.get(State.WAITING) else []
    if rule is not None:  # else all URLs are in group 0
        names, groups = store.groups(site_id), store.waiting_groups(site_id)
    limit = share(head_urls, len(groups))
    heads = {group: QueueHead(store.waiting(site_id, group, NONE, limit), limit) for group in groups}
    return SiteStart(counts, known, is_available, names, heads, retries, rule)


def _read_known(store: ScoredFrontierStore, site_id: int, room: int) -> tuple[Counts, KnownUrls | None, bool, bool]:
    """Return the numbers of pages by state, the known URLs if they fit, and whether any is a read root, or a retry."""
    counts: Counter[State] = Counter()
    keys: list[NDArray[np.int64]] = []
    values: list[NDArray[np.int64]] = []
    urls: dict[int, str] = {}
    total, first = 0, LEAST_KEY
    is_available = has_retries = False
    while True:
        rows = store.known_from(site_id, first, CHUNK)
        counts.update({State(state): number for state, number in Counter(rows.states).items()})
        is_available, has_retries = is_available or rows.have_root, has_retries or rows.have_retries
        total += len(rows.keys)
        if total <= room:
            keys.append(np.array(rows.keys, np.int64))
            values.append(np.array(rows.values, np.int64))
            urls.update((key, url) for key, url in zip(rows.keys, rows.urls, strict=True) if url is not None)
        if len(rows.keys) < CHUNK or rows.keys[-1] == GREATEST_KEY:
            known = KnownUrls(np.concatenate(keys), np.concatenate(values), urls) if total <= room else None
            return dict(counts), known, is_available, has_retries
        first = rows.keys[-1] + 1
