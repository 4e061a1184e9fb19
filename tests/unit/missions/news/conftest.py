"""Runs of a news crawl."""

import pytest

from tests.support.missions.news.news_run import Crawl


@pytest.fixture
def runs(sqlite):
    """Makes a run; the one before it is over then."""
    made = []

    def run(*rules, **more):
        if made:
            made[-1].writer.close()
        made.append(Crawl(sqlite, *rules, **more))
        return made[-1]

    yield run
    made[-1].writer.close()
