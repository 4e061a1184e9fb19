"""Two crawls of a site: what appeared, vanished and changed, as rows, as tables and as a graph."""

import csv

import pytest

from crawlers.graphs import crawl_changes
from crawlers.graphs.crawl_changes import compared_sites, link_changes, page_changes, write_comparisons
from crawlers.store.reading.queries import CrawledSite
from tests.support.memory import peak_bytes
from tests.support.stored_site import MOVED, REFUSED, Stored, store

A = "http://a.test"
BEFORE = [
    Stored("/", 0, links={1: 1, 2: 2, 3: 1, 4: 1}, title="Home"),
    Stored("/same", 1, links={0: 1, 1: 3}, external=("http://b.test/old", "http://b.test/stays")),
    Stored("/gone", 1, links={0: 1}),
    Stored("/edited", 1, title="Old title", body="old"),
    Stored("/turned", 1),
    Stored("/broken", 1, REFUSED),
]
AFTER = [
    Stored("/", 0, links={2: 1, 1: 3, 4: 1, 3: 2}, title="Home"),
    Stored("/edited", 1, title="=New title", body="new"),
    Stored("/same", 1, links={0: 1}, body="/same", external=("http://b.test/stays", "http://b.test/new")),
    Stored("/fresh", 1),
    Stored("/turned", 1, MOVED, moved_to=3),
    Stored("/gone", 1, REFUSED),
]


@pytest.fixture
def sites(database):
    """The numbers of a site in two crawls; their rows have other numbers and another order."""
    return store(database, BEFORE, [3, 0, 5, 2, 4, 1]), store(database, AFTER)


def test_pages_appear_vanish_change_and_stay(database, sites):
    rows = {row.url.removeprefix(A): row for _, row in page_changes(database, *sites)}
    assert {url: (row.change, row.what, row.status_before, row.status_after) for url, row in rows.items()} == {
        "/": ("unchanged", "", 200, 200),
        "/same": ("unchanged", "", 200, 200),
        "/gone": ("vanished", "status, content", 200, 404),
        "/edited": ("changed", "title, content", 200, 200),
        "/turned": ("vanished", "status, content, redirect", 200, 301),
        "/broken": ("vanished", "", 404, None),
        "/fresh": ("appeared", "", None, 200),
    }
    edited = rows["/edited"]
    assert (edited.title_before, edited.title_after) == ("Old title", "=New title")
    assert (edited.level_before, edited.level_after, edited.first_seen, edited.last_seen) == (1, 1, 0.0, 0.0)
    assert (rows["/fresh"].level_before, rows["/fresh"].title_before) == (None, None)


def test_links_are_compared_by_page_and_target(database, sites):
    found = {
        (row.url.removeprefix(A), row.target.removeprefix(A)): (row.change, row.links_before, row.links_after)
        for _, row in link_changes(database, *sites)
    }
    assert found == {
        ("/", "/same"): ("unchanged", 1, 1),
        ("/", "/gone"): ("vanished", 2, None),
        ("/", "/edited"): ("changed", 1, 3),
        ("/", "/turned"): ("unchanged", 1, 1),
        ("/", "/fresh"): ("appeared", None, 2),
        ("/same", "/"): ("unchanged", 1, 1),
        ("/same", "http://b.test/old"): ("vanished", 1, None),
        ("/same", "http://b.test/stays"): ("unchanged", 1, 1),
        ("/same", "http://b.test/new"): ("appeared", None, 1),
        ("/gone", "/"): ("vanished", 1, None),
    }
    assert {row.kind for _, row in link_changes(database, *sites) if "b.test" in row.target} == {"external"}


def test_rows_do_not_depend_on_the_number_of_pages_read_at_once(database, sites, monkeypatch):
    expected = list(link_changes(database, *sites))
    monkeypatch.setattr(crawl_changes, "PAGES_AT_ONCE", 2)
    assert list(link_changes(database, *sites)) == expected


def test_files_hold_what_changed_and_no_formula(database, sites, tmp_path):
    crawls = [[CrawledSite(number, "http://a.test:80", None)] for number in sites]
    compared = compared_sites(*crawls)
    (found,) = write_comparisons(database, compared, ["http://a.test:80"], tmp_path, ("csv", "gexf"), "two crawls")
    names = ["changed-pages.csv", "changed-links.csv", "changes.gexf"]
    assert [path.name for path in found.paths] == [f"a.test_80.{name}" for name in names]
    assert dict(found.pages) == {"unchanged": 2, "vanished": 3, "changed": 1, "appeared": 1}
    assert dict(found.links) == {"unchanged": 4, "vanished": 3, "changed": 1, "appeared": 2}
    with found.paths[0].open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["change"] for row in rows} == {"vanished", "changed", "appeared"}
    assert next(row["title_after"] for row in rows if row["change"] == "changed") == "'=New title"
    assert {row["last_seen"][:11] for row in rows if row["last_seen"]} == {"1970-01-01 "}
    again = found.paths[2].read_bytes()
    list(write_comparisons(database, compared, ["http://a.test:80"], tmp_path, ("gexf",), "two crawls"))
    assert found.paths[2].read_bytes() == again


def test_memory_does_not_grow_with_the_site(sqlite, monkeypatch):
    monkeypatch.setattr(crawl_changes, "PAGES_AT_ONCE", 16)
    peaks = []

    def compare(pair, size):
        assert sum(1 for _ in link_changes(sqlite, *pair)) == 5 * size

    for size in (200, 2000):
        pages = [
            Stored(f"/{number:05}", 1, links={(number + step) % size: 1 for step in range(1, 6)}, title="t" * 500)
            for number in range(size)
        ]
        pair = [store(sqlite, pages, name=f"http://s{size}n{place}.test") for place in range(2)]
        peaks.append(peak_bytes(compare, pair, size))
    assert peaks[1] < 1.5 * peaks[0] + 500_000
