"""What all pictures have in common, and their data as a table.

Pictures in a file have the height of their values.
"""

import pytest
from matplotlib.figure import Figure

from crawlers.reports.catalogue.renderers import csv_lines
from crawlers.reports.catalogue.report import Kind
from crawlers.reports.pictures.page_pictures import HttpStates, Levels
from crawlers.reports.pictures.picture import (
    PAGES_READ,
    Axis,
    Drawing,
    PictureRequest,
    Series,
    Tone,
    draw_pictures,
    table_of,
)
from crawlers.reports.pictures.pull_pictures import LinksFound
from crawlers.store.reading.queries import NamedCrawl

Y = Axis("found", "links found")


def test_data_are_a_row_for_each_point():
    series = (Series("=auto: x", (0.0, 2.0)), Series("ucb1", (None, 0.5)))
    columns, rows = table_of(Drawing(PAGES_READ, Y, (1.0, 2.0), series))
    assert [one.kind for one in columns] == [Kind.NUMBER, Kind.NUMBER, Kind.DECIMAL]
    text = b"".join(csv_lines(columns, rows)).decode()
    assert text.splitlines() == ["pages,'=auto: x,ucb1", "1.0,0.0,", "2.0,2.0,0.5"]


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Draw pictures with values, and return the figure with its final layout."""
    saved = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda made, *args, **more: (saved.append(made), save(made, *args, **more)))

    def draw(*values):
        pictures = []
        for picture, drawing in values:
            monkeypatch.setattr(type(picture), "drawing", lambda *_, found=drawing: found)
            pictures.append(picture)
        wanted = PictureRequest(NamedCrawl(1, "mine", "news", "running"), None)
        draw_pictures(tmp_path / "news.svg", None, wanted, pictures)
        return saved[-1]

    return draw


def bars(chart):
    """The bars of a chart by their name in the legend, as (bottom, top)."""
    return {one.get_label(): [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in one] for one in chart.containers}


def test_bars_are_stacked_and_lines_and_times_have_their_places(drawn):
    number, day, y = Axis("iteration", "iteration"), Axis("day", "day (UTC)", Kind.TIME), Axis("downloads", "downloads")
    stacked = Drawing(number, y, (1.0, 2.0), (Series("fit", (6, 9), Tone.GOOD), Series("polls", (1, 0))), 1.0)
    shares = Drawing(number, y, (1.0, 2.0), (Series("share", (0.4, None)),))
    days = Drawing(day, y, (0.0, 86_400.0), (Series("new", (3, 1)),), 86_400.0)
    figure = drawn((Levels(), stacked), (LinksFound(), shares), (HttpStates(), days))
    above, middle, below = figure.axes
    assert bars(above) == {"fit": [(0, 6), (0, 9)], "polls": [(6, 7), (9, 9)]}
    assert bars(below) == {"new": [(0, 3), (0, 1)]}
    assert list(middle.lines[0].get_xdata()) == [1.0, 2.0]
    assert middle.lines[0].get_ydata()[0] == 0.4
    assert figure.get_suptitle() == "news “mine”"
    assert [one.get_title() for one in figure.axes] == [Levels.title, LinksFound.title, HttpStates.title]
    assert below.get_xlabel() == "day (UTC)"


def test_picture_without_values_is_left_out(drawn):
    number, y = Axis("iteration", "iteration"), Axis("share", "share")
    figure = drawn(
        (Levels(), Drawing(number, y, (), ())),
        (LinksFound(), Drawing(number, y, (1.0,), (Series("share", (1,)),))),
    )
    (only,) = figure.axes
    assert only.lines[0].get_marker() == "o"
