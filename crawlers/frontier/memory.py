"""The frontier that lives and dies with the process: the test double."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlers.frontier.core import QueuedFrontier
from crawlers.frontier.interning import ARBITRARY_SPELLING
from crawlers.frontier.journal import Entry, Known
from crawlers.items import State
from crawlers.storage.crawls import TOO_DEEP
from crawlers.storage.unit import ENDED_PAGE, NEW_PAGE, WAITING_PAGE, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.algorithms.page_orders import PageOrder
    from crawlers.algorithms.site_rules import SiteRule
    from crawlers.frontier.base import Counts

Row = dict[str, Any]


class MemoryJournal:
    """Keeps the rows of the units in dicts, as the store's tables would."""

    def __init__(self) -> None:
        self.pages: dict[int, Row] = {}
        self.links: dict[int, dict[int, int]] = {}
        self._by_key: dict[int, dict[int, Row]] = {}  # site id -> key -> row
        self._groups: list[tuple[int, int, str]] = []  # site id, number, name
        self._last_id = 0

    def new_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def known(self, site_id: int, keys: Iterable[int] | None) -> list[Known]:
        rows = self._by_key.get(site_id, {})
        found = rows.values() if keys is None else [rows[key] for key in keys if key in rows]
        return [_known(row) for row in found]

    def waiting(self, site_id: int, group: int, after: tuple[float, int], limit: int) -> list[Entry]:
        entries = [_entry(row) for row in self._waiting(site_id) if row["link_group"] == group]
        return sorted(e for e in entries if (e.priority, e.id) > after)[:limit]

    def groups(self, site_id: int) -> list[str]:
        return [name for of_site, _, name in self._groups if of_site == site_id]

    def waiting_groups(self, site_id: int) -> list[int]:
        return sorted({row["link_group"] for row in self._waiting(site_id)})

    def _waiting(self, site_id: int) -> list[Row]:
        return [row for row in self._by_key.get(site_id, {}).values() if row["state"] == State.WAITING]

    def counts(self, site_id: int) -> Counts:
        counts: Counts = {}
        for row in self._by_key.get(site_id, {}).values():
            state = State(row["state"])
            counts[state] = counts.get(state, 0) + 1
        return counts

    def submit(self, unit: Unit) -> None:
        for values in unit.new_pages:
            row: Row = dict(zip((name for name, _ in NEW_PAGE), values, strict=True), attempts=0)
            self.pages[row["id"]] = row
            self._by_key.setdefault(row["site_id"], {})[row["key"]] = row
        for values in unit.waiting_pages:
            change = dict(zip((name for name, _ in WAITING_PAGE), values, strict=True))
            self.pages[change["id"]].update(change)
        for values in unit.ended_pages:
            change = dict(zip((name for name, _ in ENDED_PAGE), values, strict=True))
            self.pages[change["id"]].update(change)
        self._groups += [(site_id, number, name) for site_id, number, name in unit.link_groups]
        self.links.update((source, dict(targets)) for source, targets in unit.links)

    def flush(self) -> None:
        pass


def _known(row: Row) -> Known:
    waits = row["state"] == State.WAITING
    is_too_deep = row["state"] == State.REJECTED and row["reason"].startswith(TOO_DEEP)
    url = row["url"] if (waits or is_too_deep) and row["spelling"] == ARBITRARY_SPELLING else None
    return Known(
        row["key"], row["id"], row["level"], row["hops"], row["spelling"], waits, is_too_deep, url, row["link_group"]
    )


def _entry(row: Row) -> Entry:
    names = ("priority", "id", "key", "url", "level", "hops", "attempts", "request", "link_group")
    return Entry(*(row[name] for name in names))


class MemoryFrontier(QueuedFrontier):
    """A frontier with nothing behind it. Takes the keyword arguments of `QueuedFrontier`."""

    def __init__(self, rule: SiteRule, order: PageOrder, **limits: Any) -> None:
        super().__init__(MemoryJournal(), rule, order, **limits)
