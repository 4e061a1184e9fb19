"""The sites that a crawl discovers are at most as many as allowed, however many workers discover some at once.

Several workers know only roughly how many sites there are. So each transaction that adds some counts them; in
PostgreSQL such transactions of a crawl are committed one after the other, in SQLite all are.

The cash that a page paid to refused sites returns to it by a message, in the same transaction: the page has already
been read when the sites are counted, and a worker that is killed after the commit could not return it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.items import ExternalLink, State
from crawlers.reasons import Reason
from crawlers.store.database import lock_name
from crawlers.store.schema.message_tables import NO_PAGE, Message, ReturnedCash
from crawlers.store.schema.tables import DiscoveredSeed, DiscoveredSite, EndedPage, NewPage, SiteAvailability, page
from crawlers.store.sites.site_rows import count_sites, known_sites
from crawlers.store.writing.page_rows import add_external_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from crawlers.store.writing.change_set import ChangeSet


class SiteLimit:
    """The crawl *crawl_id* has at most *most* sites, including those that the latest run excludes.

    *carries_cash* says whether messages do, see `PageScores`.
    """

    def __init__(self, crawl_id: int, most: int, *, carries_cash: bool = False) -> None:
        self._crawl_id = crawl_id
        self._most = most
        self._carries_cash = carries_cash
        self._refused: dict[str, None] = {}  # names; pages that are recorded before the crawl knows may still have them
        self._untold: list[str] = []

    def apply(self, connection: Connection, changes: ChangeSet) -> None:
        """Refuse new sites in *changes* beyond the limit: links to them become external ones.

        Begins the transaction that writes *changes*. Sites that a lone worker holds are already open, and within the
        limit: nobody else adds any until it knows of others.
        """
        names = list(dict.fromkeys(row.site for row in changes[DiscoveredSite] if row.worker_id is None))
        names = [name for name in names if name not in self._refused]
        if names:
            lock_name(connection, f"sites of {self._crawl_id}")
            known = known_sites(connection, self._crawl_id, names)
            new = [name for name in names if name not in known]
            room = max(0, self._most - count_sites(connection, self._crawl_id)) if new else 0
            self._refused.update(dict.fromkeys(new[room:]))
            self._untold += new[room:]
        if self._refused:
            self._refuse(connection, changes)

    def take_refused(self) -> list[str]:
        """Return the sites that were refused since the last call."""
        refused, self._untold = self._untold, []
        return refused

    def _refuse(self, connection: Connection, changes: ChangeSet) -> None:
        sites, seeds = changes[DiscoveredSite], changes[DiscoveredSeed]
        sites[:] = [row for row in sites if row.site not in self._refused]
        seeds[:] = [row for row in seeds if row.site not in self._refused]
        messages = changes[Message]
        refused = [one for one in messages if one.site in self._refused]
        if not refused:
            return
        messages[:] = [one for one in messages if one.site not in self._refused]
        moved: dict[int, str] = {}  # reasons, by page
        roots: set[int] = set()  # those of them on level 0
        for one in refused:
            if one.source_id == NO_PAGE:
                continue
            if one.hops:  # else it is a link
                moved[one.source_id] = Reason.REDIRECT_TO_OTHER_SITE.of(one.url)
                if one.level == 0:
                    roots.add(one.source_id)
            link = ExternalLink(one.url, one.key, one.site, "", "", "", "", "")
            add_external_rows(changes, one.source_id, [(link, max(1, one.count))])
        ended = changes[EndedPage]
        ended[:] = [_refused_redirect(row, moved[row.id]) if row.id in moved else row for row in ended]
        if roots:
            changes.add(*_unavailable(connection, {root: moved[root] for root in roots}, changes))
        if self._carries_cash:
            self._return_cash(refused, changes)

    def _return_cash(self, refused: Sequence[Message], changes: ChangeSet) -> None:
        returned: dict[int, ReturnedCash] = {}  # by page
        for one in refused:
            before = returned.get(one.source_id)
            cash = one.carried + (before.carried if before is not None else 0.0)
            returned[one.source_id] = ReturnedCash(self._crawl_id, one.source_id, cash, one.sent_at)
        changes.add(*(row for row in returned.values() if row.carried))


def _refused_redirect(row: EndedPage, reason: str) -> EndedPage:
    return row._replace(state=int(State.REFUSED), reason=reason)


def _unavailable(connection: Connection, reasons: Mapping[int, str], changes: ChangeSet) -> list[SiteAvailability]:
    """Return why the sites of refused roots are not available, unless another root was read or says why.

    *reasons* are those of the roots, by number, which are stored or new in *changes*.
    """
    site_ids = {row.id: row.site_id for row in changes[NewPage] if row.id in reasons}
    stored = select(page.c.id, page.c.site_id).where(page.c.id.in_(reasons))
    site_ids.update((number, site_id) for number, site_id in connection.execute(stored))
    are_read = (page.c.level == 0, page.c.state == int(State.DONE))
    read = select(page.c.site_id).where(page.c.site_id.in_(set(site_ids.values())), *are_read)
    known = {row.id for row in changes[SiteAvailability]}.union(connection.execute(read).scalars())
    return [SiteAvailability(its, reasons[number]) for number, its in site_ids.items() if its not in known]
