"""Pictures are well-formed SVG that shows what was counted."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from crawlers.algorithms.news.iteration_counts import Day, Iteration
from crawlers.reports.iteration_chart import MOST_BARS, PARTS, one_crawl, several_crawls
from crawlers.reports.svg_panel import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH

SVG = "{http://www.w3.org/2000/svg}"
DAYS = [Day(0.0, 30, 30), Day(86_400.0, 10, 40)]
FIT, NOT_FIT, ERROR, POLLS = (colour for _, colour in PARTS.values())


def drawn(text):
    return ElementTree.fromstring(text)  # noqa: S314 - our own


def heights(root, colour):
    bars = root.findall(f".//{SVG}g/{SVG}rect[@fill='{colour}']")
    return [float(bar.get("height")) for bar in bars[:-1]]  # the last is the legend's


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


def test_bars_are_as_high_as_what_they_stand_for():
    iterations = [Iteration(1, 0.0, 1.0, 600, 300, 0, 100, 400), Iteration(2, 1.0, 2.0, 900, 100, 0, 0, 800)]
    root = drawn(one_crawl("news", iterations, DAYS))
    full = HEIGHT - TOP - BOTTOM
    assert heights(root, FIT) == pytest.approx([0.6 * full, 0.9 * full], abs=0.06)
    assert heights(root, NOT_FIT) == pytest.approx([0.3 * full, 0.1 * full], abs=0.06)
    assert heights(root, ERROR) == pytest.approx([0.1 * full], abs=0.06)
    assert heights(root, POLLS) == []
    line = root.find(f".//{SVG}polyline").get("points").split()
    shares = [(HEIGHT - BOTTOM - float(point.split(",")[1])) / full for point in line]
    assert shares == pytest.approx([0.4, 0.8], abs=0.001)
    assert {"news", "fit", "fetched, not fit", "error", "1,000", "100 %", "01.01.", "02.01."} <= set(texts(root))


def test_many_iterations_share_bars_and_the_picture_says_so():
    iterations = [Iteration(n, n - 1.0, n, fit=10, documents=5) for n in range(1, 10 * MOST_BARS + 1)]
    root = drawn(one_crawl("news", iterations, []))
    assert len(heights(root, FIT)) == MOST_BARS
    assert "iteration (a bar is 10 iterations)" in texts(root)
    assert "day (UTC)" not in texts(root)  # there are none


def test_one_iteration_and_one_day_can_be_seen():
    root = drawn(one_crawl("news", [Iteration(1, 0.0, 1.0, fit=10, documents=5)], DAYS[:1]))
    assert len(list(root.iter(f"{SVG}circle"))) == 2


def test_crawls_beside_each_other_are_drawn_against_their_downloads():
    short = [Iteration(1, 0.0, 1.0, fit=100, documents=80, total_documents=80)]
    long = [Iteration(n, n - 1.0, n, not_fit=100, documents=10, total_documents=10 * n) for n in (1, 2)]
    root = drawn(several_crawls("both", {"short": short, "long": long}))
    ends = [line.get("points").split()[-1].split(",")[0] for line in root.iter(f"{SVG}polyline")]
    wide = WIDTH - LEFT - RIGHT
    assert list(map(float, ends)) == pytest.approx(
        [LEFT + wide / 4, LEFT + 0.75 * wide, LEFT + wide / 2, LEFT + wide], abs=0.06
    )  # shares first, which stand in the middle of their iterations
    assert texts(root).count("short") == 2


def test_names_are_no_markup():
    root = drawn(one_crawl("<b>&\x01", [Iteration(1, 0.0, 1.0)], []))
    assert "<b>&\ufffd" in texts(root)
