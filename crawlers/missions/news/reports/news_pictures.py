"""Pictures of news crawls: their iterations, and the days on which documents were stored.

References
----------
.. [1] Volkov, a system that collects news on Nutch, figure 4.1: pages per iteration that fit, that do not, and errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.missions.news.stored.iterations import DAY_S, merged, stored_days, stored_iterations
from crawlers.missions.news.stored.news_tables import iteration
from crawlers.reports.catalogue.report import Kind
from crawlers.reports.histories.history import said
from crawlers.reports.pictures.picture import Axis, Drawing, Mark, Picture, Series, Tone

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from crawlers.missions.news.stored.iterations import Iteration
    from crawlers.reports.histories.history import Said
    from crawlers.reports.pictures.picture import PictureRequest

BARS = 120
MAX_DAYS = 365
_NUMBER = Axis("iteration", "iteration")
_DAY = Axis("day", "day (UTC)", Kind.TIME)


class _NewsPicture(Picture):
    """A picture of a crawl that counts iterations."""

    axes = (_NUMBER,)

    def is_stored(self, connection: Connection, wanted: PictureRequest) -> bool:
        counted = select(iteration.c.number).where(iteration.c.crawl_id == wanted.crawl.id)
        return connection.execute(counted.limit(1)).first() is not None


def _bars(connection: Connection, crawl_id: int) -> tuple[list[Iteration], int, tuple[Said, ...]]:
    """Return at most `BARS` sums of adjacent iterations, the number of iterations of each, and what is to be said."""
    iterations = stored_iterations(connection, crawl_id)
    width = max(1, -(-len(iterations) // BARS))
    notes = (said("Each value is that of %(number)s iterations together.", number=width),) if width > 1 else ()
    return merged(iterations, BARS), width, notes


class Iterations(_NewsPicture):
    """The downloads of each iteration by what came of them."""

    name = "iterations"
    title = "Downloads of each iteration"
    about = (
        "How many downloads of each iteration fit, did not fit, were polls or failed: whether the crawl learns what "
        "articles look like."
    )
    mark = Mark.BARS

    def drawing(self, connection: Connection, wanted: PictureRequest) -> Drawing:
        bars, width, notes = _bars(connection, wanted.crawl.id)
        series = (
            Series("fit", tuple(bar.fit for bar in bars), Tone.GOOD),
            Series("not fit", tuple(bar.not_fit for bar in bars), Tone.WARNING),
            Series("errors", tuple(bar.errors for bar in bars), Tone.BAD),
            Series("polls", tuple(bar.polls for bar in bars), Tone.REST),
        )
        return Drawing(_NUMBER, Axis("downloads", "downloads"), _firsts(bars, width), series, float(width), notes)


class UsefulShare(_NewsPicture):
    """New documents per download."""

    name = "useful-share"
    title = "New documents per download"
    about = (
        "How many new documents a download of each iteration gave, not counting polls, which are the cost of being "
        "early."
    )

    def drawing(self, connection: Connection, wanted: PictureRequest) -> Drawing:
        bars, width, notes = _bars(connection, wanted.crawl.id)
        y = Axis("share", "documents per download", Kind.DECIMAL)
        shares = Series("new documents per download", tuple(bar.useful_share for bar in bars), Tone.GOOD)
        return Drawing(_NUMBER, y, _firsts(bars, width), (shares,) if bars else (), notes=notes)


def _firsts(bars: list[Iteration], width: int) -> tuple[float, ...]:
    """Return the number of the first iteration of each bar."""
    return tuple(float((bar.number - 1) // width * width + 1) for bar in bars)


class Days(_NewsPicture):
    """New documents by day."""

    name = "days"
    title = "New documents of each day"
    about = "How many new documents the crawl stored on each day: whether it keeps up with its sources."
    mark = Mark.BARS
    axes = (_DAY,)

    def drawing(self, connection: Connection, wanted: PictureRequest) -> Drawing:
        stored = {day.began_at: day.documents for day in stored_days(connection, wanted.crawl.id)}
        y = Axis("documents", "new documents")
        if not stored:
            return Drawing(_DAY, y, (), ())
        last = max(stored)
        first = max(min(stored), last - (MAX_DAYS - 1) * DAY_S)
        days = tuple(first + number * DAY_S for number in range(round((last - first) / DAY_S) + 1))
        notes = (said("Only the latest %(number)s days are shown.", number=MAX_DAYS),) if first > min(stored) else ()
        documents = Series("new documents", tuple(stored.get(day, 0) for day in days), Tone.GOOD)
        return Drawing(_DAY, y, days, (documents,), float(DAY_S), notes)
