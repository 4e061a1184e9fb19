"""The numbers of URLs of each site: what summaries, reports and the panel mean by pages, errors and so on."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from crawlers.items import State
from crawlers.storage.crawl_results import MIN_ERROR_STATUS, is_vain_guess
from crawlers.storage.schema.tables import page, site
from crawlers.storage.url_kinds import UrlKind, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection


class UrlCounts(NamedTuple):
    """How many URLs there are of each kind, see `UrlKind`."""

    pages: int = 0  # that were read, with duplicates
    waiting: int = 0
    redirects: int = 0
    errors: int = 0  # without a response, or with a status of an error
    not_pages: int = 0  # other responses, such as those of another content type
    not_requested: int = 0  # and never will be
    copies: int = 0  # of the pages: duplicates whose rows were deleted
    deepest: int | None = None  # level of a page

    @property
    def requested(self) -> int:
        """The number of URLs that were requested and have ended."""
        return self.pages + self.redirects + self.errors + self.not_pages


COUNT_OF = {
    UrlKind.PAGE: "pages",
    UrlKind.WAITING: "waiting",
    UrlKind.REDIRECT: "redirects",
    UrlKind.ERROR: "errors",
    UrlKind.NOT_PAGE: "not_pages",
    UrlKind.NOT_REQUESTED: "not_requested",
}


def url_counts(
    connection: Connection, is_site: ColumnElement[bool], guesses: Sequence[str] = (), *, with_deleted: bool = True
) -> dict[int, UrlCounts]:
    """Return the counts of each site whose number, `page.site_id`, meets a condition and that has any URL.

    URLs at the paths *guesses*, which no site named, are counted only if there was something. Without the duplicates
    whose rows were deleted at the end of a run (SAVE_DUPLICATES=0), only an index is read and the rows of responses
    that are not pages, not those of all pages. Raises `StoreError`.
    """
    of_site, number = page.c.site_id, func.count()
    by_state = select(of_site, page.c.state, number, func.max(page.c.level)).group_by(of_site, page.c.state)
    is_error = (page.c.state == int(State.REFUSED)) & (page.c.status >= MIN_ERROR_STATUS)
    vain = select(of_site, page.c.state, is_error, number).join(site, site.c.id == of_site)
    copies = select(of_site, func.sum(page.c.duplicates)).where(page.c.state == int(State.DONE), page.c.duplicates > 0)
    found: defaultdict[int, UrlCounts] = defaultdict(UrlCounts)
    for site_id, state, count, level in connection.execute(by_state.where(is_site)):
        found[site_id] = _plus(found[site_id], State(state), count)
        if state == State.DONE:
            found[site_id] = found[site_id]._replace(deepest=level)
    for site_id, count in connection.execute(select(of_site, number).where(is_site, is_error).group_by(of_site)):
        found[site_id] = _plus(_plus(found[site_id], State.REFUSED, -count), State.FAILED, count)
    if guesses:
        vain = vain.where(is_site, is_vain_guess(guesses)).group_by("site_id", "state", is_error)
        for site_id, state, failed, count in connection.execute(vain):
            found[site_id] = _plus(found[site_id], State.FAILED if failed else State(state), -count)
    if with_deleted:
        for site_id, count in connection.execute(copies.where(is_site).group_by(of_site)):
            found[site_id] = _plus(found[site_id], State.DONE, int(count))._replace(copies=int(count))
    return found


def _plus(counts: UrlCounts, state: State, number: int) -> UrlCounts:
    """Return *counts* with *number* more URLs that ended in *state*; of those refused, errors are not known here."""
    name = COUNT_OF[kind_of(state, None)]
    return counts._replace(**{name: counts._asdict()[name] + number})


def total(counts: Iterable[UrlCounts]) -> UrlCounts:
    """Return the sum of the counts of several sites."""
    whole = UrlCounts()
    for one in counts:
        levels = [level for level in (whole.deepest, one.deepest) if level is not None]
        numbers = (a + b for a, b in zip(whole[:-1], one[:-1], strict=True))
        whole = UrlCounts._make((*numbers, max(levels, default=None)))
    return whole
