"""The Crawl-delay that people see is the one that the crawl keeps."""

from __future__ import annotations

import pytest
from sqlalchemy import insert

from crawlers.reports.robots_delays import RobotsDelays, robots_delays
from crawlers.storage.schema.tables import crawler_setting
from tests.support.stored_crawl import stored_crawl


@pytest.mark.parametrize(
    ("text", "status", "delay_s"),
    [
        ("User-agent: *\nCrawl-delay 7", 200, 7.0),
        ("User-agent: *\nCrawl-delay: 1e2", 200, 60.0),
        ("User-agent: *\nCrawl-delay: 61", 200, 60.0),
        ("User-agent: other\nCrawl-delay: 7", 200, 0.0),
        ("User-agent: *\nCrawl-delay: 7", 404, 0.0),
        ("User-agent: *\nCrawl-delay: x", 200, 0.0),
        ("User-agent: *\nDisallow: /", 200, 0.0),
        (None, None, 0.0),
    ],
)
def test_delay_is_read_as_the_crawl_reads_it(text, status, delay_s):
    assert RobotsDelays("mybot").of(status, text) == delay_s


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, RobotsDelays("*", 60.0)),
        ({"USER_AGENT": "mine/1.0", "ROBOTSTXT_USER_AGENT": "None"}, RobotsDelays("mine", 60.0)),
        ({"USER_AGENT": "mine/1.0", "ROBOTSTXT_USER_AGENT": "other"}, RobotsDelays("other", 60.0)),
        ({"ROBOTS_MAX_DELAY_SECONDS": "90", "ROBOTSTXT_OBEY": "1"}, RobotsDelays("*", 90.0)),
        ({"ROBOTS_MAX_DELAY_SECONDS": "90", "ROBOTSTXT_OBEY": "0"}, RobotsDelays("*", 0.0)),
    ],
)
def test_settings_of_the_crawl_decide(database, settings, expected):
    crawl_id = stored_crawl(database)
    rows = [{"crawl_id": crawl_id, "name": name, "value": value} for name, value in settings.items()]
    with database.write() as connection:
        for row in rows:
            connection.execute(insert(crawler_setting), row)
        assert robots_delays(connection, crawl_id) == expected
