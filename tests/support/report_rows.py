"""The rows of reports."""

from crawlers.reports.catalogue.conditions import Filters
from crawlers.reports.catalogue.report import rows_of

NO_FILTERS = Filters()


def report_rows(database, report, crawl_id, filters=NO_FILTERS, after=None):
    """Return all rows of a report that the *filters* let through, behind the cursor *after*."""
    with database.read() as connection:
        return list(rows_of(report.steps(connection, crawl_id, filters, after)))
