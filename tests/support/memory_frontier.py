"""The frontier that exists only in the memory of the process: the test double."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crawlers.algorithms.ranking.link_features import features_of
from crawlers.algorithms.ranking.page_scores import GONE, REVISIT, Part
from crawlers.algorithms.urls.resolution import site_of
from crawlers.frontier.frontier import QueuedFrontier
from crawlers.frontier.url_cache import ARBITRARY_VARIANT, REVIVABLE, TAKEN, pack, rank
from crawlers.frontier.values import KnownRows, PreviousVisit, QueueEntry, Retry, ScoredPage, Unscored
from crawlers.items import State
from crawlers.reasons import REVIVABLE_REASONS, code_of
from crawlers.storage.order_parts import StoredPart
from crawlers.storage.schema.message_tables import ChangedLinks
from crawlers.storage.schema.news_tables import PollRow
from crawlers.storage.schema.score_tables import SCORE_ROWS, EndedTotals, OrderTotalsRow
from crawlers.storage.schema.tables import (
    EndedPage,
    LinkFeaturesRow,
    NewPage,
    PageLinks,
    PageUpdate,
    PullRow,
    SiteBase,
    UnchangedPage,
    WaitingPage,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from crawlers.algorithms.bandits.site_rules import SiteRule
    from crawlers.algorithms.ranking.link_features import Features
    from crawlers.algorithms.ranking.page_orders import PageOrder
    from crawlers.storage.change_set import ChangeSet

Row = dict[str, Any]


class MemoryFrontierStore:
    """Keeps the rows of the change sets in dicts, like the tables of the store."""

    crawl_id = 0

    def __init__(self) -> None:
        self.pages: dict[int, Row] = {}
        self.links: dict[int, dict[int, int]] = {}
        self._by_key: dict[int, dict[int, Row]] = {}  # site id -> key -> row
        self._features: dict[int, str] = {}
        self._pulls: list[PullRow] = []
        self._scores: dict[int, Row] = {}
        self._polls: dict[int, PollRow] = {}
        self._totals: dict[int, OrderTotalsRow] = {}
        self._bases: dict[int, str] = {}
        self._last_id = 0

    def new_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def known_urls(self, site_id: int, keys: Iterable[int]) -> KnownRows:
        rows = self._by_key.get(site_id, {})
        return _known([rows[key] for key in keys if key in rows])

    def known_from(self, site_id: int, key: int, limit: int) -> KnownRows:
        rows = self._by_key.get(site_id, {})
        return _known([rows[found] for found in sorted(rows) if found >= key][:limit])

    def numbers_known(self, site_ids: Collection[int]) -> dict[int, int]:
        return {site_id: len(self._by_key[site_id]) for site_id in site_ids if site_id in self._by_key}

    def known_of(self, site_ids: Collection[int]) -> dict[int, KnownRows]:
        return {
            site_id: _known([row for _, row in sorted(self._by_key[site_id].items())])
            for site_id in site_ids
            if site_id in self._by_key
        }

    def waiting(self, site_id: int, after: tuple[float, int], limit: int) -> list[QueueEntry]:
        entries = [_entry(row) for row in self._waiting(site_id)]
        return sorted(e for e in entries if (e.priority, e.id) > after)[:limit]

    def _waiting(self, site_id: int) -> list[Row]:
        return [row for row in self._by_key.get(site_id, {}).values() if row["state"] == State.WAITING]

    def retries(self, site_ids: Collection[int]) -> dict[int, list[Retry]]:
        found: dict[int, list[Retry]] = {}
        for row in (row for site_id in site_ids for row in self._waiting(site_id) if row["retry_at"] is not None):
            retry = Retry(_entry(row), row["retry_at"], row["retry_at"] - row["state_at"])
            found.setdefault(row["site_id"], []).append(retry)
        return found

    def downloads(self, site_id: int) -> int:
        pulls = sum(pull.site_id == site_id for pull in self._pulls)
        return pulls or sum(row["attempts"] for row in self._by_key.get(site_id, {}).values())

    def best(self, table: str, site_id: int, queue: int, limit: int) -> list[QueueEntry]:
        rows = [row for row in self._scores.values() if row["site_id"] == site_id and row["queue"] == queue]
        rows.sort(key=lambda row: (-row["score"], row["page_id"]))
        return [_scored_entry(self.pages[r["page_id"]], -r["score"]) for r in rows[:limit]]

    def best_of(self, table: str, site_ids: Collection[int], limit: int) -> dict[int, dict[int, list[QueueEntry]]]:
        queues = sorted({(row["site_id"], row["queue"]) for row in self._scores.values()})
        found: dict[int, dict[int, list[QueueEntry]]] = {}
        for site_id, queue in queues:
            if site_id in site_ids and queue != GONE:
                found.setdefault(site_id, {})[queue] = self.best(table, site_id, queue, limit)
        return found

    def entries(self, page_ids: Collection[int]) -> list[QueueEntry]:
        return [_scored_entry(self.pages[page_id], 0.0) for page_id in page_ids]

    def link_features(self, page_ids: Collection[int]) -> dict[int, Features]:
        return {page_id: features_of(self._features[page_id]) for page_id in page_ids if page_id in self._features}

    def previous(self, page_id: int) -> PreviousVisit:
        row = self.pages[page_id]
        links = dict(self.links.get(page_id, {}))
        names = ("state", "status", "content_hash", "fetched_at", "etag", "last_modified")
        return PreviousVisit(links, *(row[name] for name in names))

    def numbers(self, targets: Iterable[tuple[str, int]]) -> dict[int, int]:
        keys = {key for _, key in targets}
        return {row["key"]: number for number, row in self.pages.items() if row["key"] in keys}

    def waiting_elsewhere(self, table: str, page_ids: Collection[int]) -> list[tuple[int, str, int, str]]:
        found = [self.pages[number] for number in page_ids if self._scores.get(number, {}).get("queue", GONE) != GONE]
        return [(row["id"], site_of(row["url"]), row["key"], row["url"]) for row in found]

    def scored(
        self, table: str, columns: Sequence[str], site_ids: Collection[int] | None = None
    ) -> Iterable[ScoredPage]:
        for row in self._scores.values():
            if site_ids is not None and row["site_id"] not in site_ids:
                continue
            record = tuple(row[name] for name in columns)
            yield ScoredPage(row["page_id"], row["site_id"], row["queue"], record)

    def unscored(self, table: str, site_ids: Collection[int] | None = None) -> list[Unscored]:
        found = []
        for page_id, row in sorted(self.pages.items()):
            if site_ids is not None and row["site_id"] not in site_ids:
                continue
            queue = self._scores.get(page_id, {}).get("queue", GONE)
            waits = row["state"] == State.WAITING
            if (waits and queue == GONE) or (row["state"] == State.REJECTED and queue not in (GONE, REVISIT)):
                found.append(Unscored(page_id, row["site_id"], row["level"], waits))
        return found

    def due(self, site_ids: Collection[int]) -> dict[int, list[Retry]]:
        polls = (row for row in self._polls.values() if row.site_id in site_ids)
        found: dict[int, list[Retry]] = {}
        for row in sorted(polls, key=lambda row: (row.due_at, row.page_id)):
            if self._scores[row.page_id]["queue"] == REVISIT:
                retry = Retry(_scored_entry(self.pages[row.page_id], 0.0), row.due_at, row.due_at - row.polled_at)
                found.setdefault(row.site_id, []).append(retry)
        return found

    def parts(self) -> dict[int, StoredPart]:
        return {
            number: StoredPart(Part(json.loads(row.totals), is_active=False), json.loads(row.base))
            for number, row in self._totals.items()
        }

    def bases(self, site_ids: Collection[int] | None = None) -> dict[int, list[float]]:
        found = {number: json.loads(base) for number, base in self._bases.items()}
        return found if site_ids is None else {number: base for number, base in found.items() if number in site_ids}

    def submit(self, changes: ChangeSet) -> None:
        for new in changes[NewPage]:
            page: Row = {**new._asdict(), "attempts": 0, "retry_at": None}
            self.pages[new.id] = page
            self._by_key.setdefault(new.site_id, {})[new.key] = page
        updates: tuple[PageUpdate, ...] = (*changes[WaitingPage], *changes[EndedPage], *changes[UnchangedPage])
        for change in updates:
            self.pages[change.id].update(change._asdict())
        self._features.update(changes[LinkFeaturesRow])
        self._pulls += changes[PullRow]
        for changed in changes[ChangedLinks]:
            stored = self.links.get(changed.source_id, {})
            self.links[changed.source_id] = {to: count for to, count in stored.items() if to in changed.kept}
        for source_id, targets in changes[PageLinks]:
            self.links.setdefault(source_id, {}).update(targets)
        for kind in SCORE_ROWS.values():
            for score in changes[kind]:
                self._scores[score.page_id] = score._asdict()
        for poll in changes[PollRow]:
            self._polls[poll.page_id] = poll
        for order in changes[OrderTotalsRow]:
            self._totals[order.worker_id] = order
        for ended in changes[EndedTotals]:
            del self._totals[ended.worker_id]
        for base in changes[SiteBase]:
            self._bases.pop(base.id, None)
            if base.base is not None:
                self._bases[base.id] = base.base

    def flush(self) -> None:
        pass

    submitted = 0

    def has_committed(self, number: int) -> bool:
        return True

    def reserve(self, count: int) -> None:
        return None


def _known(rows: list[Row]) -> KnownRows:
    flags = [_flags(row) for row in rows]
    return KnownRows(
        [row["key"] for row in rows],
        [
            pack(row["id"], rank(row["level"], row["hops"]), row["variant"], flag)
            for row, flag in zip(rows, flags, strict=True)
        ],
        [row["state"] for row in rows],
        [
            row["url"] if flag != TAKEN and row["variant"] >= ARBITRARY_VARIANT else None
            for row, flag in zip(rows, flags, strict=True)
        ],
        any(row["level"] == 0 and row["state"] == State.DONE for row in rows),
        any(row["state"] == State.WAITING and row["retry_at"] is not None for row in rows),
    )


def _flags(row: Row) -> int:
    if row["state"] == State.WAITING:
        return 0
    is_revivable = row["state"] == State.REJECTED and code_of(row["reason"]) in REVIVABLE_REASONS
    return REVIVABLE if is_revivable else TAKEN


def _entry(row: Row) -> QueueEntry:
    names = ("priority", "id", "key", "url", "level", "hops", "attempts", "request")
    return QueueEntry(*(row[name] for name in names))


def _scored_entry(row: Row, priority: float) -> QueueEntry:
    waits = row["state"] == State.WAITING
    return _entry(row)._replace(priority=priority, attempts=row["attempts"] if waits else 0, queue=0 if waits else 1)


class MemoryFrontier(QueuedFrontier):
    """A frontier in memory. Takes the keyword arguments of `QueuedFrontier`."""

    def __init__(self, rule: SiteRule, order: PageOrder, **limits: Any) -> None:
        super().__init__(MemoryFrontierStore(), rule, order, **limits)
