"""What is never asked for, by its URL alone."""

from __future__ import annotations

import pytest

from crawlers.algorithms.urls.resolution import resolve
from crawlers.crawl.clock import ForwardClock
from crawlers.crawl.url_filter import UrlFilter

GROWN = "/a/b/a/b/a/b/a/b/a/b/a/b/a/b/a/b/"


def reason(path, *arguments, **more):
    return UrlFilter(*arguments, **more).reason_against(resolve("http://a.example/", path))


@pytest.mark.parametrize("path", ["/x.pdf", "/x.PDF", "/x.html.pdf", "/x.pdf?page=1", "/.pdf", "/d.html/x.pdf#y"])
def test_extension_is_a_reason_whatever_its_case_and_query(path):
    assert reason(path, ["pdf"]) == "extension pdf"


@pytest.mark.parametrize(
    "path", ["/", "/x", "/x.html", "/pdf", "/x.pdf/", "/x.pdf.html", "/x?file=y.pdf", "/x.", "/x.pdfx"]
)
def test_other_urls_are_admitted(path):
    assert reason(path, ["pdf"]) is None


def test_extensions_may_be_written_with_a_dot_and_in_capitals():
    assert reason("/x.jpg", [".JPG"]) == "extension jpg"


def test_shapes_of_traps_are_a_reason_unless_switched_off():
    assert reason(GROWN) is not None
    assert reason(GROWN, traps=False) is None


def test_clock_never_goes_back(monkeypatch):
    clock = ForwardClock()
    first = clock()
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert clock() >= first > 1_600_000_000
