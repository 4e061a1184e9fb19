"""The contract of pictures: what they show, of which crawls, and their values as series over a common axis.

A file has several of them, one below the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from crawlers.reports.catalogue.report import Cells, Column, Kind
from crawlers.reports.figures import COLOURS, figure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from sqlalchemy import Connection

    from crawlers.reports.crawl_manifest import CrawlRules
    from crawlers.reports.histories.history import Said
    from crawlers.store.reading.queries import NamedCrawl

POINTS = 300  # of a curve: more than the pixels of a phone
SHOWN = 8  # curves whose colours can be told apart


class Axis(NamedTuple):
    """An axis of a picture."""

    name: str  # in files and addresses
    title: str  # for people, in English, with its unit
    kind: Kind = Kind.NUMBER


PAGES_READ = Axis("pages", "pages read")
TIME = Axis("time", "time (UTC)", Kind.TIME)


class Mark(Enum):
    """How the values of a picture are drawn."""

    LINES = "lines"
    BARS = "bars"  # one on top of the other


class Tone(Enum):
    """What the values of a series mean, which decides its colour; `ANY`: one that no other curve has."""

    ANY = "any"
    GOOD = "good"
    NEUTRAL = "neutral"
    WARNING = "warning"
    BAD = "bad"
    REST = "rest"


class Series(NamedTuple):
    """A curve, or the bars of one colour; None where it has no value."""

    title: str
    values: tuple[float | None, ...]
    tone: Tone = Tone.ANY


class Drawing(NamedTuple):
    """The values of a picture.

    Each series has a value for each of *points*, which increase along the axis *x*. A bar reaches from its point to the
    next one, *step* further; of curves, *step* is 0.
    """

    x: Axis
    y: Axis
    points: tuple[float, ...]
    series: tuple[Series, ...]
    step: float = 0.0
    notes: tuple[Said, ...] = ()  # what is not shown, and how it was counted


class PictureRequest(NamedTuple):
    """Of which crawl a picture is wanted, as its *rules* say, and what a reader has chosen."""

    crawl: NamedCrawl
    rules: CrawlRules
    site: str = ""  # scheme://host[:port] or host[:port]; "": all sites, or the most important ones
    axis: str = ""  # the name of the horizontal axis; "": the first one of the picture


class Picture(ABC):
    """A picture of a crawl."""

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]  # one sentence: what it shows, and what it is good for
    mark: ClassVar[Mark] = Mark.LINES
    axes: ClassVar[tuple[Axis, ...]]  # horizontal ones, among which the reader chooses
    has_sites: ClassVar[bool] = False  # whether it can show a single site

    @abstractmethod
    def is_stored(self, connection: Connection, wanted: PictureRequest) -> bool:
        """Return whether the store has values for it, as far as this can be told within milliseconds."""

    @abstractmethod
    def drawing(self, connection: Connection, wanted: PictureRequest) -> Drawing:
        """Return its values, which are none if there is nothing to be drawn yet. Raises `StoreError`."""

    def axis(self, wanted: PictureRequest) -> Axis:
        """Return the horizontal axis that the reader has chosen, or else the first one."""
        return next((one for one in self.axes if one.name == wanted.axis), self.axes[0])


def table_of(drawing: Drawing) -> tuple[tuple[Column, ...], list[Cells]]:
    """Return the values of a picture as the columns and rows of a report; a column is named as its series."""
    kinds = [Kind.DECIMAL if _has_fractions(one.values) else Kind.NUMBER for one in drawing.series]
    columns = (
        Column(drawing.x.name, drawing.x.title, drawing.x.kind),
        *(Column(one.title, one.title, kind) for one, kind in zip(drawing.series, kinds, strict=True)),
    )
    return columns, list(zip(drawing.points, *(one.values for one in drawing.series), strict=True))


def _has_fractions(values: Sequence[float | None]) -> bool:
    return any(isinstance(value, float) and not value.is_integer() for value in values)


WIDTH, HEIGHT = 8.0, 2.8  # inches of a picture
BAR_SHARE = 0.85  # of the distance between bars
_TONES = {
    Tone.GOOD: "#009e73",
    Tone.NEUTRAL: "#56b4e9",
    Tone.WARNING: "#e69f00",
    Tone.BAD: "#d55e00",
    Tone.REST: "#bbbbbb",
}


def draw_pictures(path: Path, connection: Connection, wanted: PictureRequest, pictures: Sequence[Picture]) -> None:
    """Draw those of *pictures* that have values as *path*; raises as `figure`."""
    drawn = [(one, drawing) for one in pictures if (drawing := one.drawing(connection, wanted)).series]
    with figure(path, WIDTH, HEIGHT * len(drawn)) as made:
        made.suptitle(f"{wanted.crawl.mission} “{wanted.crawl.name}”")
        for place, (picture, drawing) in zip(made.subplots(len(drawn), squeeze=False)[:, 0], drawn, strict=True):
            place.set(title=picture.title, xlabel=drawing.x.title, ylabel=drawing.y.title)
            _draw(place, drawing, is_stacked=picture.mark is Mark.BARS)
            place.set_ylim(bottom=0)
            place.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _draw(place: Axes, drawing: Drawing, *, is_stacked: bool) -> None:
    is_time = drawing.x.kind is Kind.TIME
    at: Any = [datetime.fromtimestamp(one, UTC) for one in drawing.points] if is_time else drawing.points
    width: Any = BAR_SHARE * (timedelta(seconds=drawing.step) if is_time else drawing.step)
    base = [0.0] * len(drawing.points)
    for number, one in enumerate(drawing.series):
        colour = _TONES.get(one.tone, COLOURS[number % len(COLOURS)])
        values = [float("nan") if value is None else value for value in one.values]
        if is_stacked:
            place.bar(at, values, width, base, color=colour, label=one.title)
            base = [low + value for low, value in zip(base, values, strict=True)]
        else:
            marker = "o" if len(values) == 1 else ""  # a line of one point is invisible
            place.plot(at, values, marker=marker, color=colour, label=one.title)
