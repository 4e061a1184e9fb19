"""Reads what the store knows of a site, before a frontier opens it.

Reading takes a second for some hundred thousand URLs, so any thread may do it; opening the site then only fills memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from crawlers.frontier.frontier_store import QueueHead, SiteStart
from crawlers.frontier.queues.bounded_queue import NONE
from crawlers.frontier.site_queue import share
from crawlers.frontier.url_cache import KnownUrls, levels_of
from crawlers.items import State

if TYPE_CHECKING:
    from crawlers.algorithms.ranking.page_orders import PageOrder
    from crawlers.frontier.frontier_store import ScoredFrontierStore
    from crawlers.frontier.protocols import Counts

CHUNK = 20_000  # known URLs per query; to parse so many holds the interpreter for a few milliseconds
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
    counts, known, is_available = _read_known(store, site_id, room)
    retries = store.retries(site_id) if counts.get(State.WAITING) else ()
    if order.scores is not None:
        start = SiteStart(counts, known, is_available, retries=retries, rule=rule)
        if not is_divided:
            return start
        table, columns = order.scores.table, order.scores.columns
        scored = list(store.scored(table, columns, site_id))
        unscored = store.unscored(table, site_id)
        return replace(start, scored=scored, unscored=unscored, base=store.bases(site_id).get(site_id))
    names: list[str] = []
    groups = [0] if counts.get(State.WAITING) else []
    if rule is not None:  # else all URLs are in group 0
        names, groups = store.groups(site_id), store.waiting_groups(site_id)
    limit = share(head_urls, len(groups))
    heads = {group: QueueHead(store.waiting(site_id, group, NONE, limit), limit) for group in groups}
    return SiteStart(counts, known, is_available, names, heads, retries, rule)


def _read_known(store: ScoredFrontierStore, site_id: int, room: int) -> tuple[Counts, KnownUrls | None, bool]:
    """Return the numbers of pages by state, the known URLs if they fit, and whether a page on level 0 was read."""
    counts: Counter[State] = Counter()
    keys: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    values: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    urls: dict[int, str] = {}
    is_available, total, first = False, 0, LEAST_KEY
    while True:
        rows = store.known_from(site_id, first, CHUNK)
        packed, states = np.array(rows.values, np.int64), np.array(rows.states, np.int8)
        counts.update({State(state): number for state, number in Counter(rows.states).items()})
        is_available = is_available or bool(((levels_of(packed) == 0) & (states == State.DONE)).any())
        total += len(packed)
        if total <= room:
            keys.append(np.array(rows.keys, np.int64))
            values.append(packed)
            urls.update((key, url) for key, url in zip(rows.keys, rows.urls, strict=True) if url is not None)
        if len(packed) < CHUNK or rows.keys[-1] == GREATEST_KEY:
            known = KnownUrls(np.concatenate(keys), np.concatenate(values), urls) if total <= room else None
            return dict(counts), known, is_available
        first = rows.keys[-1] + 1
