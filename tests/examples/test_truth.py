"""The ground truth about the demo sites has the features that crawlers are tested for."""

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

import networkx as nx
import pytest

from tests.support.demo_truth import AmbiguousSiteError, truth

LIBRARY, FACULTY, MIRROR = "http://library.test", "http://faculty.test", "http://mirror.test"


def normalize(url):
    """Return one form of all URL variants: sorted query, no empty parts, single slashes, a trailing slash."""
    parts = urlsplit(url)
    path = re.sub("/+", "/", parts.path or "/")
    if "." not in path.rpartition("/")[2] and not path.endswith("/"):
        path += "/"
    pairs = [(k, v) for k, v in parse_qsl(parts.query) if k != "sid" and not k.startswith("utm_")]
    query = urlencode(sorted(pairs))
    return f"{parts.scheme}://{parts.netloc}{path}" + (f"?{query}" if query else "")


@pytest.mark.parametrize("site", ["library", "faculty", "mirror"])
def test_levels_are_those_of_a_breadth_first_search(site):
    found = truth(site, normalize=normalize)
    walked = nx.single_source_shortest_path_length(nx.DiGraph(list(found.edges)), found.start)
    behind_copies = {url for url, level in found.nodes.items() if level != walked[url]}
    # Merging copies brings pages that only a deep copy links to nearer than any visitor can click.
    assert {urlsplit(url).path for url in behind_copies} == (
        {"/print/", "/print/notes/1.html"} if site == "mirror" else set()
    )
    assert all(found.nodes[url] > walked[url] for url in behind_copies)
    assert all(a != b and {a, b} <= set(found.nodes) for a, b in found.edges)


@pytest.mark.parametrize("site", ["library", "faculty", "mirror"])
def test_normalisation_does_not_change_the_merged_graph(site):
    plain, normalized = truth(site), truth(site, normalize=normalize)
    assert len(plain.nodes) == len(normalized.nodes)
    assert len(plain.edges) == len(normalized.edges)
    assert sorted(plain.nodes.values()) == sorted(normalized.nodes.values())


def test_normalisation_that_merges_different_pages_is_an_error():
    with pytest.raises(AmbiguousSiteError, match="/list"):
        truth("mirror", normalize=lambda url: normalize(url).partition("?")[0])
