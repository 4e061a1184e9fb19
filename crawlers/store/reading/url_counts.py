"""What became of URLs, in the words that people read: the same in tables, filters, sums, histories and exports.

The store has the state of a URL, which decides what the crawl does with it; a person also wants to know whether a
response was an error. `url_counts` are what summaries, reports and the panel mean by pages, errors and so on.
"""

from __future__ import annotations

from collections import defaultdict
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import ColumnElement, and_, case, exists, func, or_, select

from crawlers.items import State
from crawlers.mission import mission_named
from crawlers.store.schema.rows import NAMED
from crawlers.store.schema.tables import metadata, page, site

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from sqlalchemy import ColumnElement, Connection, FromClause

    from crawlers.reasons import Reason


MIN_ERROR_STATUS = 400  # the lowest status of an error
ENDED = [int(state) for state in (State.REFUSED, State.FAILED, State.REJECTED)]  # of URLs that are not pages


class UrlKind(StrEnum):
    """The words; each URL has one of them."""

    PAGE = "page"  # that was read
    WAITING = "waiting"
    REDIRECT = "redirect"
    ERROR = "error"  # no response, or a status of an error
    NOT_PAGE = "not a page"  # another response, such as one of another content type
    NOT_REQUESTED = "not requested"  # and never will be


KIND_OF_STATE: Mapping[State, UrlKind] = {
    State.DONE: UrlKind.PAGE,
    State.WAITING: UrlKind.WAITING,
    State.MOVED: UrlKind.REDIRECT,
    State.FAILED: UrlKind.ERROR,
    State.REFUSED: UrlKind.NOT_PAGE,  # if the status is none of an error
    State.REJECTED: UrlKind.NOT_REQUESTED,
}


def url_kind(of: FromClause = page) -> ColumnElement[str]:
    """Return the kind of a page, in the table or an alias of it, as an expression."""
    is_error = (of.c.state == int(State.REFUSED)) & (of.c.status >= MIN_ERROR_STATUS)
    kinds = ((of.c.state == int(state), str(kind)) for state, kind in KIND_OF_STATE.items())
    return case((is_error, str(UrlKind.ERROR)), *kinds)


URL_KIND = url_kind()


def kind_of(state: State, status: int | None) -> UrlKind:
    """Return what became of a URL in *state* whose response had *status*; None or 0: there was none.

    >>> str(kind_of(State.REFUSED, 404)), str(kind_of(State.REFUSED, 200)), str(kind_of(State.FAILED, None))
    ('error', 'not a page', 'error')
    """
    is_error = state is State.REFUSED and (status or 0) >= MIN_ERROR_STATUS
    return UrlKind.ERROR if is_error else KIND_OF_STATE[state]


def has_reason(column: ColumnElement[Any], codes: Iterable[Reason]) -> ColumnElement[bool]:
    """Return whether a *column* of stored reasons has one of the *codes*."""
    some = sorted(codes)
    whole = column.in_([code for code in some if not code.parts])
    return or_(whole, *(column.startswith(f"{code} ", autoescape=True) for code in some if code.parts))


def is_vain_guess(guesses: Sequence[str]) -> ColumnElement[bool]:
    """Return whether a page, joined with its site, is at one of the paths *guesses*, and nothing was there."""
    is_guess = or_(*(page.c.url == site.c.site + path for path in guesses))
    named = [~exists().where(one.c.url == page.c.url) for one in metadata.tables.values() if NAMED in one.info]
    return and_(page.c.state.in_(ENDED), is_guess, *named)


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


def guesses_of(mission: str) -> Sequence[str]:
    """Return the paths at which crawls of a mission look for something: it is no error of a site to have none there."""
    found: Sequence[str] | None = mission_named(mission).part("guesses")
    return found or ()
