"""The rows of reports about a small site, `stored_crawl`, whose right rows are known."""

from __future__ import annotations

import pytest

from crawlers.errors import ConfigError
from crawlers.reports.catalogue.computed_report import sorted_by
from crawlers.reports.catalogue.crawl_report import Column, rows_of
from crawlers.reports.catalogue.filters import Filters
from crawlers.reports.catalogue.host_counts import ExternalHosts
from crawlers.reports.catalogue.registry import report_named

A = "http://a.test"
OLD_IS_GONE = ("http://a.test/old", 404, "redirects to http://a.test/gone: status 404")
NO_FILTERS = Filters()


def cells_of(database, crawl_id, name, filters=NO_FILTERS):
    report = report_named(name)
    with database.read() as connection:
        return [row.cells for row in rows_of(report.steps(connection, crawl_id, filters, None))]


EXPECTED = {
    "internal-links": [
        (f"{A}/", f"{A}/a", None, 2, 0, "done", 200, 1),
        (f"{A}/", f"{A}/b", None, 1, 0, "done", 200, 1),
        (f"{A}/", f"{A}/moved", None, 1, 0, "moved", 301, 1),
        (f"{A}/", f"{A}/gone", None, 1, 0, "refused", 404, 2),
        (f"{A}/", f"{A}/old", None, 1, 0, "moved", 301, 2),
        (f"{A}/a", f"{A}/", None, 1, 1, "done", 200, 0),
        (f"{A}/untitled", f"{A}/", None, 1, 1, "done", 200, 0),
        (f"{A}/untitled", f"{A}/old", None, 1, 1, "moved", 301, 2),
    ],
    "broken-links": [
        (f"{A}/gone", 404, "status 404", None, 1, f"{A}/", 0),
        (*OLD_IS_GONE, None, 1, f"{A}/", 0),
        ("http://[", None, "not a URL", None, 1, f"{A}/", 0),
        ("http://x y", None, "not a URL", None, 1, f"{A}/", 0),
        (*OLD_IS_GONE, None, 1, f"{A}/untitled", 1),
    ],
    "bad-links": [
        ("http://[", "not a URL", None, 1, f"{A}/", 0),
        ("http://x y", "not a URL", None, 1, f"{A}/", 0),
    ],
    "redirects": [
        (f"{A}/moved", 301, 1, f"{A}/a", 200, None, 1, f"{A}/moved > {A}/a"),
        (f"{A}/left", 301, 1, "http://left.test/", None, None, 1, f"{A}/left > http://left.test/"),
        (f"{A}/old", 301, 1, f"{A}/gone", 404, "status 404", 2, f"{A}/old > {A}/gone"),
    ],
    "external-hosts": [("http://b.test", "b.test", 3, 2)],
    "missing-titles": [(f"{A}/untitled", 1, 200, None, 9, 0.0)],
    "duplicates": [(f"{A}/a", f"{A}/b", 1, 1, 9, "<script>alert(1)</script>")],
    "traps": [("trap: 9 pages like /day?# repeat the same content", 2, A, 3, f"{A}/day?2")],
    "robots-refusals": [(f"{A}/secret", "robots.txt disallows it", 2, 0.0)],
    "sites": [(A, "done", None, 4, 0, 3, 2, 3, 1, None, None, 1, 0.0, None, "not requested yet", None)],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_rows_of_one_site(database, crawl_id, name):
    assert cells_of(database, crawl_id, name, Filters(site="a.test")) == EXPECTED[name]


def test_pages_with_the_same_title_are_counted(database, crawl_id):
    assert cells_of(database, crawl_id, "same-titles") == [("News", 130, 130, "http://c.test/0", "http://c.test")]


@pytest.mark.parametrize(
    ("name", "column", "first"), [("slow-pages", 1, 12.9), ("large-pages", 2, 9), ("deepest-pages", 3, 4)]
)
def test_top_pages_descend(database, crawl_id, name, column, first):
    values = [cells[column] for cells in cells_of(database, crawl_id, name)]
    assert values[0] == first
    assert values == sorted(values, reverse=True)


def test_result_beyond_the_maximum_is_cut(database, crawl_id):
    class Two(ExternalHosts):
        most = 0

    with database.read() as connection:
        result = Two().result(connection, crawl_id, NO_FILTERS)
    assert (result.rows, result.is_cut) == ([], True)


def test_result_is_sorted_by_any_column_with_empty_cells_last():
    columns = (Column("a", "A"), Column("b", "B"))
    rows = [("b", 1), (None, 3), ("A", None)]
    assert sorted_by(rows, columns, "") == rows
    assert sorted_by(rows, columns, "a") == [("A", None), ("b", 1), (None, 3)]
    assert sorted_by(rows, columns, "-a") == [("b", 1), ("A", None), (None, 3)]
    assert sorted_by(rows, columns, "-b") == [(None, 3), ("b", 1), ("A", None)]
    with pytest.raises(ConfigError, match="sort='c' must be one of: a, b"):
        sorted_by(rows, columns, "c")
