"""The Crawl-delay that people see is the one that the crawl keeps."""

import pytest

from crawlers.reports.catalogue.site_report import RobotsDelays


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
