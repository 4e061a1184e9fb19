"""Real harvests for comparisons: what a crawl earned, page by page."""

from __future__ import annotations

import pytest

from bench.harvest.real import harvest
from tests.support.sites.server import Web, links, pages


@pytest.mark.parametrize("weights", [None, {}, {"level": {"1": 2.0}}])
def test_pulls_of_a_real_crawl_have_the_new_links_of_each_page(tmp_path, weights):
    bodies = {"/": links("/a", "/b"), "/a": links("http://x.example/1"), "/b": links("http://x.example/2")}
    with Web(one=pages(bodies)) as web:
        hosts = tmp_path / "hosts.txt"
        hosts.write_text(f"{web['one'].origin};1;;0\n")
        pulls, urls, sites = harvest(hosts, 2, weights, RULE="auto", ORDER="learnt")
        assert pulls == [(web["one"].origin, 0.0), (web["one"].origin, 1.0)]
    assert (urls, sites) == (1, 1)
