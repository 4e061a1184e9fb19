"""What became of a URL, in the words that people read: the same in tables, filters, sums, histories and exports.

The store has the state of a URL, which decides what the crawl does with it; a person also wants to know whether a
response was an error.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, case, func, or_, true

from crawlers.items import State
from crawlers.storage.crawl_results import MIN_ERROR_STATUS
from crawlers.storage.schema.tables import page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from crawlers.reasons import Reason


class UrlKind(StrEnum):
    """The words; each URL has one of them."""

    PAGE = "page"  # that was read
    WAITING = "waiting"
    REDIRECT = "redirect"
    ERROR = "error"  # no response, or a status of an error
    NOT_PAGE = "not a page"  # another response, such as one of another content type
    NOT_REQUESTED = "not requested"  # and never will be


_OF_STATES: Mapping[State, UrlKind] = {
    State.DONE: UrlKind.PAGE,
    State.WAITING: UrlKind.WAITING,
    State.MOVED: UrlKind.REDIRECT,
    State.FAILED: UrlKind.ERROR,
    State.REFUSED: UrlKind.NOT_PAGE,  # if the status is none of an error
    State.REJECTED: UrlKind.NOT_REQUESTED,
}


# The kind of a page as an expression.
URL_KIND: ColumnElement[str] = case(
    ((page.c.state == int(State.REFUSED)) & (page.c.status >= MIN_ERROR_STATUS), str(UrlKind.ERROR)),
    *((page.c.state == int(state), str(kind)) for state, kind in _OF_STATES.items()),
)


def kind_of(state: State, status: int | None) -> UrlKind:
    """Return what became of a URL in *state* whose response had *status*; None or 0: there was none.

    >>> str(kind_of(State.REFUSED, 404)), str(kind_of(State.REFUSED, 200)), str(kind_of(State.FAILED, None))
    ('error', 'not a page', 'error')
    """
    is_error = state is State.REFUSED and (status or 0) >= MIN_ERROR_STATUS
    return UrlKind.ERROR if is_error else _OF_STATES[state]


def states_of(kind: UrlKind) -> Sequence[State]:
    """Return the states that URLs of *kind* may have."""
    if kind is UrlKind.ERROR:
        return (State.REFUSED, State.FAILED)
    return [state for state, known in _OF_STATES.items() if known is kind]


def is_kind(kind: UrlKind) -> ColumnElement[bool]:
    """Return whether a page in one of the states of *kind* is of that kind."""
    if kind is UrlKind.ERROR:
        return or_(page.c.state == int(State.FAILED), page.c.status >= MIN_ERROR_STATUS)
    return func.coalesce(page.c.status, 0) < MIN_ERROR_STATUS if kind is UrlKind.NOT_PAGE else true()


def has_reason(column: ColumnElement[Any], codes: Iterable[Reason]) -> ColumnElement[bool]:
    """Return whether a *column* of stored reasons has one of the *codes*."""
    some = sorted(codes)
    whole = column.in_([code for code in some if not code.parts])
    return or_(whole, *(column.startswith(f"{code} ", autoescape=True) for code in some if code.parts))
