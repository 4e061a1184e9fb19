"""Workers of a news crawl, none of which has a page to read, wait for the polls that are due."""

import pytest

from crawlers.items import REVISIT
from crawlers.missions.news.stored.news_tables import NewsScoreRow, PollRow
from tests.support.sharing_workers import Crawl


@pytest.mark.both_stores
def test_polls_are_work_unless_the_crawl_ends_before_they_are_due(database):
    shared = Crawl(database)
    second = shared.join()
    shared.end(*shared.sites)
    page = shared.sites[0]
    shared.write(
        NewsScoreRow(page, page, REVISIT, 0.0, 0.0),
        PollRow(page, page, "feed", 50.0, 1.0, 1, 0, 0, None, "[]", None),
    )
    for ends_after, is_over in ((None, False), (50.0, False), (49.0, True)):
        shared.round(second, is_idle=True, ends_after=ends_after)
        assert shared.round(shared.first, is_idle=True, ends_after=ends_after).is_over == is_over
