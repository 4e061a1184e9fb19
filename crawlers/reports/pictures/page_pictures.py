"""Pictures of the pages of a crawl: by level, by status over time, and by importance in the order of reading."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING

from sqlalchemy import case, exists, func, literal, select, union_all

from crawlers.items import State
from crawlers.ranking.page_orders import OF_IMPORTANCE
from crawlers.reports.catalogue.conditions import Filters, is_wanted_site
from crawlers.reports.catalogue.report import Kind
from crawlers.reports.histories.history import N_, Count, said
from crawlers.reports.pictures.picture import POINTS, TIME, Axis, Drawing, Mark, Picture, Series, Tone
from crawlers.reports.pictures.pull_pictures import has_pulls
from crawlers.store.reading.crawl_settings import recorded
from crawlers.store.reading.importance import Totals, totals_of, weights_of_crawl
from crawlers.store.schema.tables import order_totals, page, pull, site

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import ColumnElement, Connection

    from crawlers.reports.pictures.picture import PictureRequest

BARS = 120
_STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400)
_UNITS: tuple[tuple[int, Callable[[int], Count]], ...] = (
    (86_400, lambda number: Count(number, "%(number)s day", "%(number)s days")),
    (3600, lambda number: Count(number, "%(number)s hour", "%(number)s hours")),
    (60, lambda number: Count(number, "%(number)s minute", "%(number)s minutes")),
    (1, lambda number: Count(number, "%(number)s second", "%(number)s seconds")),
)


def _is_of(wanted: PictureRequest) -> ColumnElement[bool]:
    sites = select(site.c.id).where(is_wanted_site(wanted.crawl.id, Filters(site=wanted.site)))
    return page.c.site_id.in_(sites)


def _in_order(connection: Connection, wanted: PictureRequest) -> ColumnElement[bool]:
    """As `_is_of`; the pages of many sites are read in the order of the table: + 0 hides the index of their sites.

    By that index, each page would be looked up alone: of 10^6 pages, that takes several times as long.
    """
    if wanted.site:
        return _is_of(wanted)
    first, last = connection.execute(select(func.min(page.c.id), func.max(page.c.id)).where(_is_of(wanted))).one()
    sites = select(site.c.id).where(site.c.crawl_id == wanted.crawl.id)
    return page.c.id.between(first, last) & (page.c.site_id + 0).in_(sites)


class _PagePicture(Picture):
    """A picture that counts the URLs of a crawl."""

    mark = Mark.BARS
    has_sites = True

    def is_stored(self, connection: Connection, wanted: PictureRequest) -> bool:
        # By its sites: else PostgreSQL would read the pages of all crawls until it met one of this.
        is_wanted = is_wanted_site(wanted.crawl.id, Filters(site=wanted.site))
        with_pages = select(site.c.id).where(is_wanted, exists().where(page.c.site_id == site.c.id))
        return connection.execute(with_pages.limit(1)).first() is not None


class Levels(_PagePicture):
    """URLs by level."""

    name = "levels"
    title = "Levels of the sites"
    about = "How many URLs were found on each level, and what became of them: it shows how deep a site is, and traps."
    axes = (Axis("level", "level (clicks from the start URL)"),)
    _STATES = (
        (N_("pages"), Tone.GOOD, (State.DONE,)),
        (N_("redirects"), Tone.NEUTRAL, (State.MOVED,)),
        (N_("errors and responses that are not pages"), Tone.BAD, (State.REFUSED, State.FAILED)),
        (N_("not requested"), Tone.WARNING, (State.REJECTED,)),
        (N_("waiting"), Tone.REST, (State.WAITING,)),
    )

    def drawing(self, connection: Connection, wanted: PictureRequest) -> Drawing:
        statement = (
            select(page.c.level, page.c.state, func.count()).where(_is_of(wanted)).group_by(page.c.level, page.c.state)
        )
        rows = connection.execute(statement).all()
        levels = 1 + max((level for level, _, _ in rows), default=-1)
        width = max(1, math.ceil(levels / BARS))
        counts: dict[tuple[int, State], int] = {}
        for level, state, number in rows:
            bar = level // width, State(state)
            counts[bar] = counts.get(bar, 0) + number
        bars = range(math.ceil(levels / width))
        series = tuple(
            Series(title, tuple(sum(counts.get((bar, state), 0) for state in states) for bar in bars), tone)
            for title, tone, states in self._STATES
        )
        notes = (said("Each bar is %(number)s levels.", number=width),) if width > 1 else ()
        points = tuple(float(bar * width) for bar in bars)
        return Drawing(self.axes[0], Axis("urls", "URLs"), points, series, float(width), notes)


class HttpStates(_PagePicture):
    """Responses over time, by the class of their status."""

    name = "http-states"
    title = "HTTP states over time"
    about = "How the servers responded in the course of the crawl; each URL counts once, when it was requested last."
    axes = (TIME,)
    _CLASSES = (
        (N_("2xx success"), Tone.GOOD, 2),
        (N_("3xx redirect"), Tone.NEUTRAL, 3),
        (N_("4xx client error"), Tone.WARNING, 4),
        (N_("5xx server error"), Tone.BAD, 5),
        (N_("no response"), Tone.REST, 0),
    )

    def drawing(self, connection: Connection, wanted: PictureRequest) -> Drawing:
        # A page without a response has no time of it.
        at = func.coalesce(page.c.fetched_at, page.c.state_at)
        ended = [int(state) for state in (State.DONE, State.MOVED, State.REFUSED, State.FAILED)]
        is_ended = _in_order(connection, wanted) & page.c.state.in_(ended)
        y = Axis("responses", "responses")
        first, last = connection.execute(select(func.min(at), func.max(at)).where(is_ended)).one()
        if first is None:
            return Drawing(TIME, y, (), ())
        step = _step(last - first)
        begin = math.floor(first / step) * step
        bar = func.floor((at - begin) / step)
        status = case((page.c.status.between(200, 599), func.floor(page.c.status / 100.0)), else_=0)
        statement = select(bar, status, func.count()).where(is_ended).group_by(bar, status)
        counts = {(int(place), int(kind)): number for place, kind, number in connection.execute(statement)}
        bars = range(1 + math.floor((last - begin) / step))
        series = tuple(
            Series(title, tuple(counts.get((place, kind), 0) for place in bars), tone)
            for title, tone, kind in self._CLASSES
        )
        unit, counted = next(unit for unit in _UNITS if step >= unit[0])
        note = said("Each bar is %(time)s.", time=counted(step // unit))
        return Drawing(TIME, y, tuple(float(begin + place * step) for place in bars), series, float(step), (note,))


def _step(span_s: float) -> int:
    """Return a round number of seconds, at most `BARS` of which cover *span_s*, wherever they begin."""
    least = span_s / (BARS - 2)  # of the first and the last one only a part may be covered
    return next((step for step in _STEPS_S if step >= least), 86_400 * math.ceil(least / 86_400))


class Importance(Picture):
    """The share of all importance that the pages read so far have."""

    name = "importance"
    title = "Importance collected"
    about = (
        "How much of the importance of all pages read the first ones have, as it is measured now: a good order begins "
        "steeply."
    )
    axes = (Axis("pages", "different pages read"),)

    def is_stored(self, connection: Connection, wanted: PictureRequest) -> bool:
        of_crawl = order_totals.c.crawl_id == wanted.crawl.id
        return (
            recorded(connection, wanted.crawl.id, "ORDER").get("ORDER") in OF_IMPORTANCE
            and connection.execute(select(order_totals.c.crawl_id).where(of_crawl).limit(1)).first() is not None
            and has_pulls(connection, wanted.crawl.id)
        )

    def drawing(self, connection: Connection, wanted: PictureRequest) -> Drawing:
        y = Axis("share", "share of all importance", Kind.DECIMAL)
        totals = totals_of(connection, wanted.crawl.id)
        if totals is None:
            return Drawing(self.axes[0], y, (), ())
        parts = _parts(connection, wanted.crawl.id, totals)
        if not parts[True]:
            return Drawing(self.axes[0], y, (), ())
        points = accumulate((pages for pages, _ in parts[True]), initial=0)
        by_crawl, best = (
            tuple(map(totals.share, accumulate((weight for _, weight in parts[order]), initial=0.0)))
            for order in (True, False)
        )
        series = (
            Series("in the order of the crawl", by_crawl, Tone.GOOD),
            Series("the most important pages first", best, Tone.REST),
        )
        note = said("The second curve is the best one that any order could have with these pages.")
        return Drawing(self.axes[0], y, tuple(map(float, points)), series, notes=(note,))


def _parts(connection: Connection, crawl_id: int, totals: Totals) -> dict[bool, list[tuple[int, float]]]:
    """Return the pages that were read in at most `POINTS` parts: the number of each, and its weight.

    By the order of their first downloads (True), and by weight (False).
    """
    weighed = weights_of_crawl(connection, crawl_id, totals)
    pages = connection.execute(select(func.count()).select_from(weighed)).scalar_one()
    every = max(1, math.ceil(pages / POINTS))
    of_crawl = select(site.c.id).where(site.c.crawl_id == crawl_id)
    first = func.min(pull.c.id).label("first")
    downloads = select(pull.c.page_id, first).where(pull.c.site_id.in_(of_crawl)).group_by(pull.c.page_id).subquery()
    ranked = (
        select(
            weighed.c.score.label("weight"),
            func.row_number().over(order_by=downloads.c.first).label("as_read"),
            func.row_number().over(order_by=weighed.c.score.desc()).label("best"),
        )
        .join(downloads, downloads.c.page_id == weighed.c.page_id)
        .cte("ranked")  # used twice, so that the database computes it once
    )
    sums = (
        select(literal(by_crawl).label("by_crawl"), part, func.count(), func.sum(ranked.c.weight)).group_by(part)
        for by_crawl, part in ((True, (ranked.c.as_read - 1) // every), (False, (ranked.c.best - 1) // every))
    )
    found: dict[bool, list[tuple[int, float]]] = {True: [], False: []}
    for by_crawl, _, number, weight in sorted(connection.execute(union_all(*sums))):
        found[bool(by_crawl)].append((number, weight))
    return found
