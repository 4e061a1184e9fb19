"""What holds for every report: its slices are its rows, in the same order, whatever the size and the time."""

import random
from contextlib import closing
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from sqlalchemy import String, literal, select

from crawlers.errors import ConfigError
from crawlers.reasons import sentence
from crawlers.reports.catalogue.conditions import contains, parsed_filters
from crawlers.reports.catalogue.registry import REPORTS, report_named
from crawlers.reports.catalogue.report import MOST, ComputedReport, cursor_text, parsed_cursor, slice_of
from crawlers.store.database import Database
from tests.support.report_rows import NO_FILTERS, report_rows
from tests.support.stored_crawl import CRAWL, stored_crawl

pytestmark = pytest.mark.both_stores

every_report = pytest.mark.parametrize("report", REPORTS.values(), ids=lambda report: report.name)


@pytest.fixture(scope="module")
def database(new_project, tmp_path_factory):
    """A store with a crawl, which all tests read and none changes."""
    with closing(Database(new_project(tmp_path_factory.mktemp("registry")).database_url)) as database:
        stored_crawl(database)
        yield database


@pytest.fixture
def crawl_id():
    """The number of the crawl."""
    return CRAWL


@every_report
def test_every_cursor_that_is_parsed_can_be_read_from(database, crawl_id, report):
    first, last = ([sign * (MOST if kind is int else 1e18) for kind in report.cursor_kinds] for sign in (-1, 1))
    cursors = [last, *(first[:place] + last[place:][:1] + first[place + 1 :] for place in range(len(last)))]
    for cursor in (first, *cursors):
        parsed = parsed_cursor(cursor_text(cursor), report.cursor_kinds)
        assert report_rows(database, report, crawl_id, after=parsed) is not None


@every_report
def test_cursors_ascend(database, crawl_id, report):
    assert all(earlier.cursor < later.cursor for earlier, later in pairwise(report_rows(database, report, crawl_id)))


@every_report
def test_slices_are_the_rows(database, crawl_id, report):
    rng = random.Random(1)
    expected = report_rows(database, report, crawl_id)
    for size, hurry in ((3, 0.5), (3, 1.0), (1000, 0.0)):
        found, cursor, is_first = [], None, True
        while is_first or cursor is not None:
            with database.read() as connection:
                steps = report.steps(connection, crawl_id, NO_FILTERS, cursor)
                part = slice_of(steps, size, lambda most=hurry: rng.random() < most)
            assert len(part.rows) <= size
            assert part.is_partial or part.cursor is None or len(part.rows) == size
            assert cursor is None or part.cursor is None or part.cursor > cursor
            found += part.rows
            cursor = part.cursor and parsed_cursor(cursor_text(part.cursor), report.cursor_kinds)
            is_first = False
        assert found == expected


TEXTS = ("url", "title", "anchor", "site", "link", "representative", "subject", "got", "rule")


def _is_on(address, host):
    name = urlsplit(address).hostname or address
    return name == host or name.endswith(f".{host}")


FILTERS = [
    *({"site": site} for site in ("a.test", "http://c.test", "http://unknown.test")),
    *({"host": host} for host in ("b.test", "test", "est")),
    *({"text": text} for text in ("ONE", "%")),
    {"anchor": "link to"},
    *({"kind": kind} for kind in ("sitemap", "silent source")),
    {"language": "de"},
    {"level": "2"},
    {"state": "not a page"},
    {"status": "404"},
    *({"reason": reason} for reason in ("TRAP: 9 pages", "disallowed by line", "%")),
    {"since": "1970-01-01"},
    {"until": "1970-01-01"},
    {"site": "a.test", "level": "1"},
]


@every_report
def test_filters_let_some_rows_through_in_order(database, crawl_id, report):
    everything = report_rows(database, report, crawl_id)
    columns = [column.name for column in report.columns]
    says_sites = report.name != "external-hosts"  # whose rows are about all sites that link to a host

    def said(reason):
        return f"{reason} {sentence(reason)}" if reason else ""

    def meets(row, name, wanted):
        cells = dict(zip(columns, row.cells, strict=True))
        texts = [cells.get(column) for column in TEXTS]
        of_site = wanted if "://" in wanted else f"http://{wanted}"
        return {
            "site": any(str(cell).startswith(of_site) for cell in row.cells),
            "host": name == "host" and any(_is_on(str(cells.get(column)), wanted) for column in ("url", "host")),
            "anchor": wanted.lower() in str(cells.get("anchor") or "").lower(),
            "text": any(wanted.lower() in str(text or "").lower() for text in texts),
            "reason": all(word in said(cells.get("reason")).lower() for word in wanted.lower().split()),
            "since": True,  # all pages were read at 0
            "until": False,
        }.get(name, str(cells.get(name)) == wanted)

    for given in FILTERS:
        if not given.keys() <= report.filters:
            with pytest.raises(ConfigError, match=f"has no filter ({'|'.join(given.keys() - report.filters)})"):
                parsed_filters(given, report.filters)
            continue
        found = report_rows(database, report, crawl_id, parsed_filters(given, report.filters))
        if "site" in given and not says_sites:
            assert [row.cells for row in found] != [row.cells for row in everything]
            continue
        expected = [row for row in everything if all(meets(row, *one) for one in given.items())]
        if isinstance(report, ComputedReport):  # whose cursors are places in the result
            assert [row.cells for row in found] == [row.cells for row in expected], given
        else:
            assert found == expected, given


@every_report
def test_related_rows_are_found_by_their_filters(database, crawl_id, report):
    for row in report_rows(database, report, crawl_id)[:20]:
        related = report.related(row.cells)
        if related is not None:
            other = report_named(related.report)
            filters = parsed_filters(related.filters, other.filters)
            is_link = related.report == "internal-links"  # not every page is linked to
            assert is_link or report_rows(database, other, crawl_id, filters)


def test_report_of_unknown_name_is_an_error_that_names_the_others():
    with pytest.raises(ConfigError, match="there is no report 'x'; there are pages, sites"):
        report_named("x")


def test_half_a_character_in_a_filter_is_refused():
    with pytest.raises(ConfigError, match=r"site='\\udcff' is not valid text; write it in UTF-8"):
        parsed_filters({"site": "\udcff"}, {"site"})


@pytest.mark.parametrize(
    ("stored", "text", "is_part"),
    [("\u00c4RZTE", "\u00c4rz", True), ("\u00c4RZTE", "\u00e4rz", False), ("100%", "0%", True), ("100 ", "0%", False)],
)
def test_case_of_ascii_letters_does_not_matter(database, stored, text, is_part):
    assert bool(database.scalar(select(contains(literal(stored, String), text)))) == is_part
