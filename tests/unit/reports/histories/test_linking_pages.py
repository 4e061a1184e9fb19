"""The search for the pages that link to a URL: in bounded steps, of which none is lost."""

import random

import pytest

from crawlers.items import State
from crawlers.reports.catalogue.conditions import Filters
from crawlers.reports.catalogue.report import rows_of, slice_of
from crawlers.reports.histories.history import Subject, fact_lines
from crawlers.reports.histories.linking_pages import LinkingPages, linking_facts
from crawlers.store.schema.tables import LinkContextRow, LinkTextRow
from tests.support.stored_pages import add_links, add_page, begin_crawl
from tests.support.stored_rows import write_rows

PAGES = 250


@pytest.fixture
def crawl_id(database):
    """A crawl of two sites, in which each page links to page 1, and each tenth to page 2."""
    crawl_id, (first, second) = begin_crawl(database)
    for number in range(1, PAGES + 1):
        state = State.WAITING if number % 7 == 0 else State.DONE
        add_page(database, number, first if number % 2 else second, f"http://a.test/{number:03}", state=int(state))
    links = [(number, target, 1 + number % 2) for number in range(1, PAGES + 1) for target in (1, 2)]
    add_links(database, *(one for one in links if one[1] == 1 or one[0] % 10 == 0))
    write_rows(database, LinkContextRow(5, "Five", "", "nav", "", "a"), LinkTextRow(20, 2, 5))
    return crawl_id


def found(database, crawl_id, subject):
    with database.read() as connection:
        return [row.cells for row in rows_of(LinkingPages(subject).steps(connection, crawl_id, Filters(), None))]


def test_text_and_place_of_a_link_are_told_if_they_are_stored(database, crawl_id):
    texts = {one.url[-3:]: (one.anchor, one.position) for one in found(database, crawl_id, Subject((2,)))}
    assert (texts["010"], texts["020"]) == (("", ""), ("Five", "nav"))


def test_search_that_is_interrupted_goes_on_where_it_was(database, crawl_id):
    rng = random.Random(1)
    rows, after = [], None
    while True:
        with database.read() as connection:
            steps = LinkingPages(Subject((1,))).steps(connection, crawl_id, Filters(), after)
            part = slice_of(steps, 30, lambda: rng.random() < 0.5)
        rows += part.rows
        if part.cursor is None:
            break
        after = part.cursor
    assert [row.cells for row in rows] == found(database, crawl_id, Subject((1,)))


def test_search_without_time_says_how_far_it_came(database, crawl_id):
    lines = fact_lines(linking_facts(database, crawl_id, Subject((1,)), lambda: True))
    assert lines[0].startswith("  linked to ")
    assert " times from 0 pages" not in lines[0]
    assert lines[1].startswith("  only 0 of 2 sites were searched for links in the time that was allowed; ")
    assert len(fact_lines(linking_facts(database, crawl_id, Subject((1,)), lambda: False))) == 1
