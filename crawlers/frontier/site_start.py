"""Reads what the store knows of sites, before a frontier opens them: with few statements for many small sites.

Reading takes a second for some hundred thousand URLs, so any thread may do it; opening a site then only fills memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from crawlers.frontier.queues.heap_queue import NONE
from crawlers.frontier.site_queue import queue_limit
from crawlers.frontier.url_cache import UrlCache
from crawlers.frontier.values import Mismatch, QueueHead, ScoredPage, SiteStart
from crawlers.items import State
from crawlers.ranking.page_scores import OTHER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crawlers.frontier.sql_store import SqlFrontierStore
    from crawlers.frontier.values import QueueEntry, Retry, UrlRows
    from crawlers.ranking.page_orders import PageOrder, Shares
    from crawlers.ranking.page_scores import PageScores

CHUNK = 5_000  # known URLs per query; to parse so many holds the interpreter for a millisecond or two
MOST_REVIVED = 500  # pages of a site
QUEUES = 5  # of a site, under an order that takes hints
LEAST_KEY, GREATEST_KEY = -(2**63), 2**63 - 1
P = TypeVar("P", ScoredPage, Mismatch)

NOTHING_STORED = SiteStart(known=UrlCache())


def read_starts(
    store: SqlFrontierStore,
    order: PageOrder,
    site_ids: Sequence[int],
    *,
    room: int,
    head_urls: int,
    has_pulls: bool,
    is_divided: bool = False,
) -> list[SiteStart]:
    """Return what the *store* has committed of each of the sites. Any thread may call it.

    *room* is the number of URLs of a site that can be known in memory, *head_urls* that of waiting ones; pulls are read
    if the crawl *has_pulls*. If the *order* has scores, these determine what waits.
    """
    known = _read_known(store, site_ids, room)
    retries = store.retries([site_id for site_id, (_, has_retries) in known.items() if has_retries])
    starts = {site_id: replace(start, retries=retries.get(site_id, ())) for site_id, (start, _) in known.items()}
    if order.scores is not None and is_divided:  # else the scores of all sites are in memory
        starts = _with_scores(store, order.scores, starts, head_urls)
    for site_id, start in starts.items():
        if order.scores is not None:
            starts[site_id] = replace(start, shares=_shares(store, order, site_id, has_pulls=has_pulls))
        elif start.counts.get(State.WAITING):
            head = QueueHead(store.waiting(site_id, NONE, head_urls), head_urls)
            starts[site_id] = replace(start, heads={0: head})
        if order.link_values is not None:
            starts[site_id] = _with_features(store, starts[site_id])
    return list(starts.values())


def _shares(store: SqlFrontierStore, order: PageOrder, site_id: int, *, has_pulls: bool) -> Shares | None:
    shares = order.shares()
    if shares is not None and has_pulls:
        for _ in range(store.downloads(site_id)):
            shares.record_request(OTHER)  # which queues they came from is not stored
    return shares


def _with_features(store: SqlFrontierStore, start: SiteStart) -> SiteStart:
    """Return the start of a site under an order that learns from links."""
    waiting = [entry.id for head in start.heads.values() for entry in head.entries]
    resting = [retry.entry.id for retry in start.retries]
    return replace(start, features=store.link_features([*waiting, *resting]))


def _with_scores(
    store: SqlFrontierStore, scores: PageScores, starts: Mapping[int, SiteStart], head_urls: int
) -> dict[int, SiteStart]:
    """Return the starts of sites whose scores are not in memory."""
    sites = list(starts)
    scored = _by_site(store.scored(scores.table, scores.columns, sites))
    unscored = _by_site(store.unscored(scores.table, sites))
    bases = store.bases(sites) if scores.is_shared else {}
    due: Mapping[int, Sequence[Retry]] = {}
    best: Mapping[int, Mapping[int, list[QueueEntry]]] = {}
    revived: Mapping[int, Sequence[QueueEntry]] = {}
    limit = queue_limit(head_urls, QUEUES)
    if scores.takes_hints:
        due = store.due(scores.table, sites)
    if not scores.is_shared:  # what is stored of others is relative to totals that have changed
        revived = _revived(store, unscored)
        best = store.best_of(scores.table, [one for one in sites if one not in unscored or one in revived], limit)
    return {
        site_id: replace(
            start,
            heads={queue: QueueHead(entries, limit) for queue, entries in best.get(site_id, {}).items()},
            scored=scored.get(site_id, ()),
            unscored=unscored.get(site_id, ()),
            revived=revived.get(site_id, ()),
            due=due.get(site_id, ()),
            base=bases.get(site_id),
        )
        for site_id, start in starts.items()
    }


def _revived(store: SqlFrontierStore, unscored: Mapping[int, Sequence[Mismatch]]) -> dict[int, Sequence[QueueEntry]]:
    """Return the *unscored* pages that wait, of the sites where they are few: the others read their queues later."""
    few = {site_id: [page.id for page in its if page.waits] for site_id, its in unscored.items()}
    few = {site_id: pages for site_id, pages in few.items() if len(pages) <= MOST_REVIVED}
    entries = {entry.id: entry for entry in store.entries([page for pages in few.values() for page in pages])}
    return {site_id: [entries[page] for page in pages] for site_id, pages in few.items()}


def _by_site(rows: Iterable[P]) -> dict[int, list[P]]:
    found: dict[int, list[P]] = {}
    for row in rows:
        found.setdefault(row.site_id, []).append(row)
    return found


def _read_known(store: SqlFrontierStore, site_ids: Sequence[int], room: int) -> dict[int, tuple[SiteStart, bool]]:
    """Return the URLs of sites, in the order of *site_ids*, and whether any of them waits for another attempt.

    Those of small sites are read together.
    """
    numbers = store.numbers_known(site_ids)
    small: list[list[int]] = [[]]
    total = 0
    for site_id in site_ids:
        number = numbers.get(site_id, 0)
        if 0 < number <= CHUNK:
            if (total := total + number) > CHUNK:
                small.append([])
                total = number
            small[-1].append(site_id)
    found = {
        site_id: _collect([rows], room) for some in small if some for site_id, rows in store.known_of(some).items()
    }
    return {
        site_id: found.get(site_id) or _collect(_chunks(store, site_id) if numbers.get(site_id) else (), room)
        for site_id in site_ids
    }


def _chunks(store: SqlFrontierStore, site_id: int) -> Iterator[UrlRows]:
    """Yield the URLs of a large site, some at a time."""
    first = LEAST_KEY
    while True:
        rows = store.known_from(site_id, first, CHUNK)
        yield rows
        if len(rows.keys) < CHUNK or rows.keys[-1] == GREATEST_KEY:
            return
        first = rows.keys[-1] + 1


def _collect(chunks: Iterable[UrlRows], room: int) -> tuple[SiteStart, bool]:
    counts: Counter[State] = Counter()
    known = UrlCache()
    total = 0
    is_available = has_retries = False
    for rows in chunks:
        counts.update({State(state): number for state, number in Counter(rows.states).items()})
        is_available, has_retries = is_available or rows.have_root, has_retries or rows.have_retries
        total += len(rows.keys)
        if total <= room:
            known.merge(dict(zip(rows.keys, rows.values, strict=True)))
            known.urls.update((key, url) for key, url in zip(rows.keys, rows.urls, strict=True) if url is not None)
    return SiteStart(dict(counts), known if total <= room else None, is_available), has_retries
