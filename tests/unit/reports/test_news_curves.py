"""Charts of news crawls show the counted values."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from crawlers.algorithms.news.iteration_counts import Day, Iteration
from crawlers.reports.news_curves import NewsCurves, draw_curves
from crawlers.storage.queries import NamedCrawl

DAYS = [Day(0.0, 30, 30), Day(86_400.0, 10, 40)]


def curves(name, iterations, days=()):
    return NewsCurves(NamedCrawl(1, name, "news", "running"), name, iterations, list(days))


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Write a file, and return the figure with its final layout."""
    saved = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda made, *args, **more: (saved.append(made), save(made, *args, **more)))

    def draw(*shown):
        draw_curves(tmp_path / "news.svg", shown)
        return saved[-1]

    return draw


def stacks(chart):
    """The bars of a chart by their name in the legend, as (bottom, top)."""
    return {
        bars.get_label(): [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in bars] for bars in chart.containers
    }


def line(chart, number=0):
    return [tuple(map(float, point)) for point in chart.lines[number].get_xydata()]


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_bars_and_lines_have_the_height_of_their_values(drawn):
    iterations = [Iteration(1, 0.0, 1.0, 600, 300, 0, 100, 400), Iteration(2, 1.0, 2.0, 900, 100, 0, 0, 800)]
    above, below, shares, ratios = drawn(curves("mine", iterations, DAYS)).axes
    assert stacks(above) == {
        "fit": [(0, 600), (0, 900)],
        "not fit": [(600, 900), (900, 1000)],
        "errors": [(900, 1000), (1000, 1000)],
        "polls": [(1000, 1000), (1000, 1000)],
    }
    assert line(shares) == [(0, 0.4), (1, 0.8)]
    assert stacks(below) == {"new documents": [(0, 30), (0, 10)]}
    assert line(ratios) == [(0, 1), (1, 0.25)]
    assert above.figure.get_suptitle() == "news “mine”"
    assert (ticks(above.xaxis), ticks(below.xaxis)) == (["1", "2"], ["01.01.", "02.01."])
    assert ticks(above.yaxis) == ["0", "250", "500", "750", "1,000"]
    assert ticks(shares.yaxis) == ["0%", "25%", "50%", "75%", "100%"]


def test_share_never_exceeds_its_axis(drawn):
    """Polls may add documents without counting as downloads."""
    _, shares = drawn(curves("mine", [Iteration(1, 0.0, 1.0, fit=1, polls=5, documents=3)])).axes
    assert line(shares) == [(0, 1)]


def test_compared_crawls_are_drawn_against_their_downloads(drawn):
    short = [Iteration(1, 0.0, 1.0, fit=100, documents=80, total_documents=80)]
    long = [Iteration(n, n - 1.0, n, not_fit=100, documents=10, total_documents=10 * n) for n in (1, 2)]
    figure = drawn(curves("_short", short), curves("long", long))
    above, below = figure.axes
    assert [line(above, number) for number in (0, 1)] == [
        [(50, 0.8)],
        [(50, 0.1), (150, 0.1)],
    ]  # in the middle of each iteration
    assert [line(below, number) for number in (0, 1)] == [[(0, 0), (100, 80)], [(0, 0), (100, 10), (200, 20)]]
    assert below.get_xlim() == (0, 200)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["_short", "long"]
