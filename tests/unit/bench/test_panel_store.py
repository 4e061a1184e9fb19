"""The large store of the panel's measurement has something to show everywhere."""

from sqlalchemy import text

from bench.scale.panel_store import EXPLAINED, LARGE, MISSIONS, Size, build, first_document
from crawlers.reports.catalogue.conditions import Filters
from crawlers.reports.catalogue.registry import reports_about
from crawlers.reports.catalogue.report import rows_of
from crawlers.reports.histories.url_history import subject_of
from crawlers.store.reading.queries import crawl_numbered
from crawlers.urls.normalization import Normalization
from tests.support.of_missions import needs

SIZE = Size(pages=5000, links=2, sites=10, listed=10)
EMPTY = {"missing-titles"}  # all pages have one


@needs("sitegraph", "news", "topic", "broad")
def test_reports_of_all_missions_have_rows(sqlite):
    build(sqlite, SIZE)
    for number, mission in MISSIONS.items():
        with sqlite.read() as connection:
            for report in reports_about(mission):
                has_rows = next(rows_of(report.steps(connection, number, Filters(), None)), None) is not None
                assert has_rows == (report.name not in EMPTY), f"{mission}: {report.name}"
    assert first_document(SIZE) in sqlite.scalars(text("SELECT page_id FROM document"))
    subjects = [subject_of(sqlite, crawl_numbered(sqlite, LARGE), url, Normalization()) for url in EXPLAINED]
    assert [bool(one.page_ids) for one in subjects] == [False, False, True]  # the first one is beyond this store
    assert subjects[1].external_id is not None
