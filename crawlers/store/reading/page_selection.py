"""Selects the stored pages of a site that may be requested: by its limit of levels, and by the URLs that users select.

Both may change when a crawl is resumed. Pages that are not selected any more are rejected, and those that were not
before wait again, as if today's limits had always applied.

The parts of a crawl's pages in an order with scores, by worker, and the cash that all workers have in common.

Each worker writes the totals of its own part. The virtual page of all workers has no row: its cash is computed from the
totals, and once in a while one worker distributes it, which changes one column of the crawl.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import String, bindparam, cast, literal, select, update

from crawlers.items import State
from crawlers.ranking.page_scores import Part
from crawlers.reasons import NOT_SELECTED, Reason
from crawlers.store.reading.url_counts import has_reason
from crawlers.store.schema.score_tables import order_totals
from crawlers.store.schema.tables import crawl, page, site, worker
from crawlers.store.worker_rows import ACTIVE
from crawlers.urls.addresses import SiteAddresses
from crawlers.urls.resolution import resolve, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlalchemy import Connection

    from crawlers.items import Target
    from crawlers.store.sites.site_rows import SiteRow
    from crawlers.urls.normalization import Normalization
    from crawlers.urls.scope import UrlSelection


class StoredPart(NamedTuple):
    """The part of a worker as it is stored; *base* are the numbers to which the records of its pages are relative."""

    part: Part
    base: list[float]


def parts_of(connection: Connection, crawl_id: int) -> dict[int, StoredPart]:
    """Return the parts of a crawl by worker, also those of workers that ended."""
    given = _given(connection, crawl_id)
    rows = select(order_totals.c.worker_id, order_totals.c.totals, order_totals.c.base, worker.c.state)
    rows = rows.outerjoin(worker, worker.c.id == order_totals.c.worker_id).where(order_totals.c.crawl_id == crawl_id)
    parts = {}
    for number, totals, base, state in connection.execute(rows.order_by(order_totals.c.worker_id)):
        part = Part(json.loads(totals), state == ACTIVE, given.get(number, 0.0))
        parts[number] = StoredPart(part, json.loads(base))
    return parts


def _given(connection: Connection, crawl_id: int) -> dict[int, float]:
    text = connection.execute(select(crawl.c.given).where(crawl.c.id == crawl_id)).scalar()
    return {int(number): cash for number, cash in json.loads(text).items()} if text else {}


LEVELS = 2**31 - 1  # the largest value of the column in PostgreSQL
RESELECTED = 10_000  # pages that are read at a time when the selection of a site changed


class StoredSelection:
    """The URLs of a site that are fetched, by its folder, its addresses, and the patterns of *selection*.

    *reason_against* is that of the filter of new URLs, *options* are the steps of their normal form.
    """

    def __init__(
        self, reason_against: Callable[[Target], str | None], selection: UrlSelection, options: Normalization
    ) -> None:
        self._reason_against = reason_against
        self._selection = selection
        self._options = options

    def fingerprint(self, row: SiteRow) -> str:
        """Return a text that changes with the selection; "" if all URLs of the site are selected."""
        parts = [row.folder, sorted(row.aliases), self._selection.include, self._selection.exclude]
        return json.dumps(parts) if any(parts) else ""

    def reason_against(self, row: SiteRow, url: str, level: int) -> str | None:
        """Return why a stored URL is not selected, or None."""
        if (address := site_of(url)) not in row.addresses:
            return Reason.OTHER_ADDRESS.of(address, row.site)
        if level == 0:  # start URLs, and pages to which they redirect
            return None
        addresses = SiteAddresses()
        addresses.set(row.site, row.addresses, row.address)
        return self._reason_against(addresses.of_site(resolve(url, "", self._options)))


def move_level_limit(connection: Connection, site_id: int, max_level: int | None, now: float) -> None:
    """Queue or reject pages that were found under another limit, as if *max_level* had always applied."""
    deepest = max_level if max_level is not None else LEVELS
    of_site = page.c.site_id == site_id
    waits, is_too_deep = page.c.state == int(State.WAITING), has_reason(page.c.reason, [Reason.TOO_DEEP])
    connection.execute(
        update(page)
        .where(of_site, page.c.state == int(State.REJECTED), is_too_deep, page.c.level <= deepest)
        .values(state=int(State.WAITING), reason=None, state_at=now)
    )
    reason = literal(f"{Reason.TOO_DEEP} ") + cast(page.c.level, String) + literal(f" {max_level}")
    connection.execute(
        update(page)
        .where(of_site, waits, page.c.level > deepest)
        .values(state=int(State.REJECTED), reason=reason, state_at=now)
    )


def reselect(
    connection: Connection, crawl_id: int, rows: Iterable[SiteRow], selection: StoredSelection, now: float
) -> bool:
    """Queue or reject the pages of sites whose selection changed; return whether any wait that did not before."""
    of_crawl = select(site.c.id, site.c.selection, site.c.home_addresses).where(site.c.crawl_id == crawl_id)
    stored = {row.id: row for row in connection.execute(of_crawl)}
    changed = []
    for row in rows:
        before = stored[row.id]
        lost = set((before.home_addresses or "").split()).difference(row.home_addresses)  # those of other sites now
        fingerprint = " ".join([selection.fingerprint(row), *sorted(lost)]) or None
        if before.selection != fingerprint:
            changed.append((row, fingerprint))
    if not changed:
        return False
    connection.execute(
        update(site).where(site.c.id == bindparam("number")).values(selection=bindparam("today")),
        [{"number": row.id, "today": fingerprint} for row, fingerprint in changed],
    )
    return any([_reselect_site(connection, row, selection, now) for row, _ in changed if not row.is_new])


def _reselect_site(connection: Connection, row: SiteRow, selection: StoredSelection, now: float) -> bool:
    """Queue or reject the pages of a site; return whether any wait that did not before."""
    has_grown = False
    waits = page.c.state == int(State.WAITING)
    not_selected = (page.c.state == int(State.REJECTED)) & has_reason(page.c.reason, NOT_SELECTED)
    columns = (page.c.id, page.c.url, page.c.level, page.c.state, page.c.reason)
    changed = (
        update(page)
        .where(page.c.id == bindparam("number"))
        .values(state=bindparam("new_state"), reason=bindparam("why"), state_at=now)
    )
    after = 0
    while True:
        some = select(*columns).where(page.c.site_id == row.id, waits | not_selected, page.c.id > after)
        found = connection.execute(some.order_by(page.c.id).limit(RESELECTED)).all()
        if not found:
            return has_grown
        after = found[-1].id
        changes = []
        for number, url, level, state, before in found:
            why = selection.reason_against(row, url, level)
            if why is None and row.max_level is not None and level > row.max_level:
                why = Reason.TOO_DEEP.of(level, row.max_level)
            if why != (before if state == State.REJECTED else None):
                new_state = int(State.WAITING if why is None else State.REJECTED)
                has_grown = has_grown or why is None
                changes.append({"number": number, "new_state": new_state, "why": why})
        if changes:
            connection.execute(changed, changes)
