"""Draws pictures of a crawl into a file, one below the other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from crawlers.reports.catalogue.table import Kind
from crawlers.reports.figures import COLOURS, figure
from crawlers.reports.pictures.picture import Mark, Tone

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from sqlalchemy import Connection

    from crawlers.reports.pictures.picture import Drawing, Picture, PictureRequest

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
