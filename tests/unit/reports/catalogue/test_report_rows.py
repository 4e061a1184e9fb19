"""The rows of reports about a small site, `stored_crawl`, whose right rows are known."""

import pytest
from sqlalchemy import select, update

from crawlers.errors import ConfigError
from crawlers.items import State
from crawlers.mission import missions
from crawlers.reports.catalogue import index_walk
from crawlers.reports.catalogue.conditions import Filters
from crawlers.reports.catalogue.index_walk import PageReport, Position, SearchPlace
from crawlers.reports.catalogue.registry import REPORTS, described_in, reports_about
from crawlers.reports.catalogue.report import MOST, Column, Report, sorted_by
from crawlers.store.reading.url_counts import UrlKind
from crawlers.store.schema.tables import page, site
from tests.support.report_rows import NO_FILTERS, report_rows
from tests.support.stored_rows import execute

A = "http://a.test"
OLD_IS_GONE = ("http://a.test/old", 404, "redirect_to_broken http://a.test/gone status 404")


class Read(PageReport):
    columns, states, at_once = (), (State.DONE,), 40


def cells_of(database, crawl_id, name, filters=NO_FILTERS):
    return [row.cells for row in report_rows(database, REPORTS[name], crawl_id, filters)]


EXPECTED = {
    "internal-links": [
        (f"{A}/", f"{A}/a", None, 2, 0, "page", 200, 1),
        (f"{A}/", f"{A}/b", None, 1, 0, "page", 200, 1),
        (f"{A}/", f"{A}/moved", None, 1, 0, "redirect", 301, 1),
        (f"{A}/", f"{A}/gone", None, 1, 0, "error", 404, 2),
        (f"{A}/", f"{A}/old", None, 1, 0, "redirect", 301, 2),
        (f"{A}/a", f"{A}/", None, 1, 1, "page", 200, 0),
        (f"{A}/untitled", f"{A}/", None, 1, 1, "page", 200, 0),
        (f"{A}/untitled", f"{A}/old", None, 1, 1, "redirect", 301, 2),
    ],
    "broken-links": [
        (f"{A}/gone", 404, "status 404", None, 1, f"{A}/", 0),
        (*OLD_IS_GONE, None, 1, f"{A}/", 0),
        ("http://[", None, "not_a_url", None, 1, f"{A}/", 0),
        ("http://x y", None, "not_a_url", None, 1, f"{A}/", 0),
        (*OLD_IS_GONE, None, 1, f"{A}/untitled", 1),
    ],
    "bad-links": [
        ("http://x y", "not_a_url", None, 1, f"{A}/", 0),
        ("http://[", "not_a_url", None, 1, f"{A}/", 0),
    ],
    "redirects": [
        (f"{A}/moved", 301, 1, f"{A}/a", 200, None, 1, f"{A}/moved > {A}/a"),
        (f"{A}/left", 301, 1, "http://left.test/", None, None, 1, f"{A}/left > http://left.test/"),
        (f"{A}/old", 301, 1, f"{A}/gone", 404, "status 404", 2, f"{A}/old > {A}/gone"),
    ],
    "external-hosts": [("http://b.test", "b.test", 3, 2, None)],
    "missing-titles": [(f"{A}/untitled", 1, 200, None, 9, 0.0)],
    "duplicates": [(f"{A}/a", f"{A}/b", 1, 1, 9, "<script>alert(1)</script>")],
    "traps": [("trap_content 9 /day?#", 2, A, 3, f"{A}/day?2")],
    "robots-refusals": [(f"{A}/secret", "robots_disallows", 2, 0.0)],
    "in-sitemap-only": [(f"{A}/orphan/{number}", f"{A}/1.xml", 86_400.0 * (number + 5)) for number in range(7)],
    "not-in-sitemap": [(f"{A}/untitled", "", 1, 9, 0.0)],  # /b is a duplicate, and no sitemap of c.test was read
    "sitemap-errors": [
        (f"{A}/gone", "error", 404, "status 404", 2, f"{A}/1.xml"),
        (f"{A}/moved", "redirect", 301, None, 1, f"{A}/1.xml"),
        (f"{A}/secret", "not requested", 404, "robots_disallows", 2, f"{A}/1.xml"),
    ],
    "sites": [(A, "finished", None, 4, 0, 3, 2, 0, 3, 2, 1, None, 1, 0.0, None, "not requested yet", None)],
}


BY_KEY = {"in-sitemap-only", "sitemap-errors"}  # whose order is that of hashes


@pytest.mark.parametrize("name", EXPECTED)
def test_rows_of_one_site(database, crawl_id, name):
    found = cells_of(database, crawl_id, name, Filters(site="a.test"))
    assert (sorted(found) if name in BY_KEY else found) == EXPECTED[name]


@pytest.mark.parametrize("mission", missions())
def test_reports_that_make_no_sense_for_a_mission_are_not_listed(mission):
    listed = {report.name for report in reports_about(mission)}
    assert "pages" in listed
    for other, its in missions().items():
        own = {report.name for module in its.all_parts("reports") for report in described_in(module, Report)}
        assert own <= listed if other == mission else not own & listed


def test_result_is_sorted_by_any_column_with_empty_cells_last():
    columns = (Column("a", "A"), Column("b", "B"))
    rows = [("b", 1), (None, 3), ("A", None)]
    assert sorted_by(rows, columns, "") == rows
    assert sorted_by(rows, columns, "a") == [("A", None), ("b", 1), (None, 3)]
    assert sorted_by(rows, columns, "-a") == [("b", 1), ("A", None), (None, 3)]
    assert sorted_by(rows, columns, "-b") == [(None, 3), ("b", 1), ("A", None)]
    with pytest.raises(ConfigError, match="sort='c' must be one of: a, b"):
        sorted_by(rows, columns, "c")


def test_redirects_to_other_sites_are_external_links_too(database, crawl_id):
    as_crawls_store_them = {"state": int(State.REFUSED), "status": 301}
    execute(database, update(page).where(page.c.url == f"{A}/left").values(**as_crawls_store_them))
    [row] = [row for row in cells_of(database, crawl_id, "external-links") if row[5] == f"{A}/left"]
    assert (row[0], *row[2:8]) == ("http://left.test/", "", "redirect", 1, f"{A}/left", 1, 301)


def test_each_step_reads_at_most_twice_as_many_pages_as_the_one_before(database, crawl_id, monkeypatch):
    monkeypatch.setattr(index_walk, "FIRST_STEP", 5)
    with database.read() as connection:
        filtered, sizes = (
            [len(step.rows) for step in Read().steps(connection, crawl_id, one, None)]
            for one in (Filters(site="c.test"), Filters())
        )
    assert filtered == [40, 40, 40, 10, 0, 0]  # with filters, few of them may be wanted
    assert sizes == [4, 0, 5, 10, 20, 40, 40, 15, 0, 0]


def test_search_of_several_states_says_no_level_as_the_next_state_begins_at_the_first_one(database, crawl_id):
    with database.read() as connection:
        first, second = connection.execute(select(site.c.id).order_by(site.c.id)).scalars()

        def place(states, *position, **filters):
            report = Read()
            report.states = states
            return report.search_place(connection, crawl_id, Filters(**filters), Position(*position))

        within, end = (second, int(State.WAITING), 12, 7), (first, int(max(State)), MOST, MOST)
        assert place([State.WAITING], *within) == SearchPlace(2, 2, 12)
        assert place(tuple(State), *within, state=UrlKind.WAITING) == SearchPlace(2, 2, 12)
        assert place(tuple(State), *within) == SearchPlace(1, 2, None)
        assert place(tuple(State), *end) == place([max(State)], *end) == SearchPlace(1, 2, None)
