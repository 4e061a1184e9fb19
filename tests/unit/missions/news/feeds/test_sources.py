"""A site belongs to one source, or to none."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.items import SiteLimits
from crawlers.missions.news.feeds.sources import Source, SourceLeaders, SourceOwners

SOURCES = [
    ("https://www.example.org", ["example.net"]),
    ("http://www.example.org", []),
    ("http://sport.example.org", []),
    ("http://127.0.0.1:8080", []),
]
DOMAINS = st.integers(0, 7)


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


@given(st.lists(st.tuples(DOMAINS, st.lists(DOMAINS, max_size=3)), max_size=8))
def test_sources_have_the_same_leader_if_and_only_if_domains_connect_them(named):
    leaders = SourceLeaders(
        Source(SiteLimits(f"http://d{own}.test"), hosts=tuple(f"d{one}.test" for one in hosts)) for own, hosts in named
    )
    graph = nx.Graph((own, one) for own, hosts in named for one in (own, *hosts))
    groups = [{leaders.of(f"http://d{one}.test") for one in group} for group in nx.connected_components(graph)]
    assert all(len(group) == 1 for group in groups)
    assert len(set.union(set(), *groups)) == len(groups)
