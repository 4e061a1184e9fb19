"""A site belongs to one source, or to none."""

import pytest

from crawlers.algorithms.news.sources import Source, SourceOwners
from crawlers.items import SiteLimits

SOURCES = [
    ("https://www.example.org", ["example.net"]),
    ("http://www.example.org", []),
    ("http://sport.example.org", []),
    ("http://127.0.0.1:8080", []),
]


def test_source_without_options_has_no_feeds_rules_and_hosts():
    source = Source(SiteLimits("http://www.paper.example"))
    assert (source.feeds, source.sitemaps, source.rules, source.content, source.hosts) == ((), (), (), {}, ())
    assert (source.name, source.language, source.region) == (None, None, None)
    assert source.domain == "paper.example"


@pytest.mark.parametrize(
    ("site", "owner"),
    [
        ("http://www.example.org", 1),
        ("http://example.org:8080", 0),
        ("https://a.b.example.org", 0),
        ("http://127.0.0.1", 3),
        ("http://notexample.org", None),
    ],
)
def test_site_belongs_to_the_nearest_source_above_it(site, owner):
    assert SourceOwners(SOURCES).of(site) == (None if owner is None else SOURCES[owner][0])
