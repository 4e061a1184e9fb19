"""Documents as rows: in one order, with neighbours, and found by their words."""

import pytest

from crawlers.missions.news.reports.document_list import Documents
from crawlers.reports.catalogue.conditions import Filters
from crawlers.reports.catalogue.registry import REPORTS
from tests.support.report_rows import NO_FILTERS, report_rows


def documents_of(database, crawl_id, filters=NO_FILTERS):
    return [row.cells for row in report_rows(database, REPORTS["documents"], crawl_id, filters)]


def test_documents_of_many_sites_are_merged_in_one_order(database, crawl_id, monkeypatch):
    by_site = documents_of(database, crawl_id)
    monkeypatch.setattr("crawlers.missions.news.reports.document_list.MERGED_SITES", 1)
    assert documents_of(database, crawl_id) == by_site


@pytest.mark.parametrize("most", [1, 50])
def test_neighbours_of_a_document_are_those_of_the_list_that_the_filters_show(database, crawl_id, monkeypatch, most):
    monkeypatch.setattr("crawlers.missions.news.reports.document_list.MERGED_SITES", most)
    documents, filters = Documents(), Filters(language="de", text="story")
    listed = [row[0] for row in documents_of(database, crawl_id, filters)]
    with database.read() as connection:
        for before, number, after in zip([None, *listed], listed, [*listed[1:], None], strict=False):
            found = documents.neighbours(connection, crawl_id, filters, number, lambda: False)
            assert tuple(one and one.page_id for one in found) == (before, after)


@pytest.mark.parametrize(
    ("words", "number"),
    [("story", 59), ("one 59", 1), ("second NOT one", 31), ('"', 0), ("AND (", 0), ("bold\0", 60), ("\ud800", 0)],
)
def test_documents_are_found_by_their_words(database, crawl_id, words, number):
    assert len(documents_of(database, crawl_id, Filters(words=words))) == number


def test_frequent_words_are_found_step_by_step(database, crawl_id, monkeypatch):
    wanted = Filters(words="story")
    found = documents_of(database, crawl_id, wanted)
    monkeypatch.setattr("crawlers.missions.news.reports.document_list.MOST_FOUND", 5)
    assert documents_of(database, crawl_id, wanted) == found != []
    assert len(found) > 5
