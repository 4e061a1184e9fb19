"""The name by which robots.txt addresses the crawl."""

import pytest
from scrapy.settings import Settings

from crawlers.errors import ConfigError
from crawlers.sites.robots_rules import robots_token


@pytest.mark.parametrize(
    ("named", "user_agent", "token"),
    [
        (None, "crawlers/0.1 (+https://example.org)", "crawlers"),
        ("ours", "crawlers/0.1", "ours"),
        ("ours/2.0 (test)", "crawlers/0.1", "ours"),
        (None, "(+https://example.org)", "*"),
    ],
)
def test_token_is_named_or_derived(named, user_agent, token):
    assert robots_token(Settings({"ROBOTSTXT_USER_AGENT": named, "USER_AGENT": user_agent})) == token


def test_setting_without_a_name_is_refused():
    with pytest.raises(ConfigError, match=r"ROBOTSTXT_USER_AGENT='\(!\)' contains no name; write one of letters"):
        robots_token(Settings({"ROBOTSTXT_USER_AGENT": "(!)"}))
