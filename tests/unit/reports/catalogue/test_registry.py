"""What holds for every report: its slices are its rows, in the same order, whatever the size and the time."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from crawlers.errors import ConfigError
from crawlers.reports.catalogue.crawl_report import cursor_text, parsed_cursor, rows_of, slice_of
from crawlers.reports.catalogue.filters import Filters, parsed_filters
from crawlers.reports.catalogue.registry import REPORTS, report_named

every_report = pytest.mark.parametrize("report", REPORTS.values(), ids=lambda report: report.name)


NO_FILTERS = Filters()


def rows(database, report, crawl_id, filters=NO_FILTERS, after=None):
    with database.read() as connection:
        return list(rows_of(report.steps(connection, crawl_id, filters, after)))


@every_report
def test_report_has_rows_of_its_columns(database, crawl_id, report):
    found = rows(database, report, crawl_id)
    assert found
    assert {len(row.cells) for row in found} == {len(report.columns)}
    assert {len(row.cursor) for row in found} == {report.cursor_length}


@every_report
def test_cursors_ascend(database, crawl_id, report):
    assert all(earlier.cursor < later.cursor for earlier, later in pairwise(rows(database, report, crawl_id)))


@every_report
@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("hurry", [0.0, 0.5, 1.0])
def test_slices_are_the_rows(database, crawl_id, report, size, hurry):
    rng = random.Random(size)
    found, cursor, slices = [], None, 0
    while slices == 0 or cursor is not None:
        with database.read() as connection:
            steps = report.steps(connection, crawl_id, NO_FILTERS, cursor)
            part = slice_of(steps, size, lambda: rng.random() < hurry)
        assert len(part.rows) <= size
        assert part.is_partial or part.cursor is None or len(part.rows) == size
        found += part.rows
        cursor = part.cursor and parsed_cursor(cursor_text(part.cursor), report.cursor_length)
        slices += 1
    assert found == rows(database, report, crawl_id)


@every_report
@pytest.mark.parametrize(
    "given",
    [
        {"site": "a.test"},
        {"site": "http://unknown.test"},
        {"host": "b.test"},
        {"host": "test"},
        {"host": "est"},
        {"text": "ONE"},
        {"text": "%"},
        {"level": "2"},
        {"state": "refused"},
        {"status": "404"},
        {"since": "1970-01-01"},
        {"until": "1970-01-01"},
        {"site": "a.test", "level": "1"},
    ],
    ids=str,
)
def test_filters_let_some_rows_through_in_order(database, crawl_id, report, given):
    if not given.keys() <= report.filters:
        with pytest.raises(ConfigError, match=f"has no filter {next(iter(given.keys() - report.filters))}"):
            parsed_filters(given, report.filters)
        return
    found = rows(database, report, crawl_id, parsed_filters(given, report.filters))
    everything = rows(database, report, crawl_id)
    columns = [column.name for column in report.columns]
    first_site = min(row.cursor[0] for row in everything)

    def meets(row, name, wanted):
        cells = dict(zip(columns, row.cells, strict=True))
        texts = [str(cells.get(column) or "").lower() for column in ("url", "title", "anchor")]
        return {
            "site": wanted == "a.test" and row.cursor[0] == first_site,
            "host": wanted in ("b.test", "test"),
            "text": any(wanted.lower() in text for text in texts),
            "since": True,  # all pages were read at 0
            "until": False,
        }.get(name, str(cells.get(name)) == wanted)

    assert found == [row for row in everything if all(meets(row, *one) for one in given.items())]


def test_report_of_unknown_name_is_an_error_that_names_the_others():
    with pytest.raises(ConfigError, match="there is no report 'x'; there are pages, external-links"):
        report_named("x")
