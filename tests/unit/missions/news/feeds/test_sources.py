"""A site belongs to one source, or to none."""

import pytest

from crawlers.missions.news.feeds.sources import SourceOwners

SOURCES = [
    ("https://www.example.org", ["example.net"]),
    ("http://www.example.org", []),
    ("http://sport.example.org", []),
    ("http://127.0.0.1:8080", []),
]


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
