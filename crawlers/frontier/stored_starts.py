"""What the store knows of sites that were begun before, read before they are opened.

Few statements read many small sites. That takes a second for some hundred thousand URLs, so any thread may do it;
opening a site then only fills memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from crawlers.frontier.url_cache import UrlCache, id_of
from crawlers.frontier.values import NONE, Mismatch, ScoredPage, SiteStart, queue_limit
from crawlers.items import OTHER, State
from crawlers.store.writing.pulls import downloads_of_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crawlers.frontier.sql_store import SqlFrontierStore
    from crawlers.frontier.values import UrlRows
    from crawlers.ranking.page_orders import PageOrder
    from crawlers.ranking.page_scores import PageScores

CHUNK = 5_000  # known URLs per query; to parse so many holds the interpreter for a millisecond or two
DENSE = 8  # to pass a row of another site takes about an eighth of the time in which one is looked for by its key
QUEUES = 5  # of a site, under an order that takes hints
LEAST_KEY, GREATEST_KEY = -(2**63), 2**63 - 1
P = TypeVar("P", ScoredPage, Mismatch)


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
    starts = _read_known(store, site_ids, room)
    for site_id, resting in store.retries(site_ids).items():
        starts[site_id] = replace(starts[site_id], resting=resting)
    if order.scores is not None and is_divided:  # else the scores of all sites are in memory
        starts = _with_scores(store, order.scores, starts, queue_limit(head_urls, QUEUES))
    for site_id, start in starts.items():
        if order.scores is None and start.counts.get(State.WAITING):
            start = replace(start, heads={0: store.waiting(site_id, NONE, head_urls)}, limit=head_urls)
        if (shares := order.shares()) is not None and has_pulls:
            for _ in range(downloads_of_site(store.database, site_id)):
                shares.record_request(OTHER)  # which queues they came from is not stored
        if order.link_values is not None:
            from crawlers.frontier.value_queue import stored_features  # with numpy

            waiting = [entry.id for entries in start.heads.values() for entry in entries]
            features = stored_features(store, [*waiting, *(one.entry.id for one in start.resting)])
            start = replace(start, features=features)
        starts[site_id] = replace(start, shares=shares)
    return list(starts.values())


def _with_scores(
    store: SqlFrontierStore, scores: PageScores, starts: Mapping[int, SiteStart], limit: int
) -> dict[int, SiteStart]:
    """Return the starts of sites whose scores are not in memory."""
    from crawlers.frontier.scoring import ScoredRows  # with numpy

    sites = list(starts)
    rows = ScoredRows(store, scores.table, scores.columns)
    scored = _grouped(rows.scored(sites))
    unscored = _grouped(rows.unscored(sites))
    bases = rows.bases(sites) if scores.is_shared else {}
    due = rows.due(sites) if scores.takes_hints else {}
    # What is stored of others is relative to totals that have changed.
    known = [] if scores.is_shared else [one for one in sites if one not in unscored]
    best = rows.best_of(known, limit) if known else {}
    return {
        site_id: replace(
            start,
            heads=best.get(site_id, {}),
            limit=limit,
            scored=scored.get(site_id, ()),
            unscored=unscored.get(site_id, ()),
            resting=[*start.resting, *due.get(site_id, ())],
            base=bases.get(site_id),
        )
        for site_id, start in starts.items()
    }


def _grouped(rows: Iterable[P]) -> dict[int, list[P]]:
    found: dict[int, list[P]] = {}
    for row in rows:
        found.setdefault(row.site_id, []).append(row)
    return found


def _read_known(store: SqlFrontierStore, site_ids: Sequence[int], room: int) -> dict[int, SiteStart]:
    """Return the URLs of sites, in the order of *site_ids*. Those of small sites are read together."""
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
    for site_id, number in numbers.items():
        if number > CHUNK:
            found[site_id] = _collect(_chunks(store, site_id, number), room, number)
    return {site_id: found.get(site_id) or SiteStart(known=UrlCache()) for site_id in site_ids}


def _chunks(store: SqlFrontierStore, site_id: int, number: int) -> Iterator[UrlRows]:
    """Yield the *number* URLs of a large site, some at a time."""
    column = "id"
    first, last = store.range_of(site_id)
    if last - first >= DENSE * number:
        column, first, last = "key", LEAST_KEY, GREATEST_KEY
    while first <= last:
        rows = store.known_from(site_id, column, first, last, CHUNK)
        yield rows
        if len(rows.keys) < CHUNK:
            return
        first = (id_of(rows.values[-1]) if column == "id" else rows.keys[-1]) + 1


def _collect(chunks: Iterable[UrlRows], room: int, number: int = 0) -> SiteStart:
    counts: Counter[State] = Counter()
    known = UrlCache(min(number, room))
    total = 0
    is_available = False
    for rows in chunks:
        counts.update({State(state): number for state, number in Counter(rows.states).items()})
        is_available = is_available or rows.have_root
        total += len(rows.keys)
        if total <= room:
            known.merge(dict(zip(rows.keys, rows.values, strict=True)))
            known.urls.update((key, url) for key, url in zip(rows.keys, rows.urls, strict=True) if url is not None)
    return SiteStart(dict(counts), known if total <= room else None, is_available)
