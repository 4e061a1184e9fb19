"""The ground truth about the demo sites has the features that crawlers are tested for."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

import networkx as nx
import pytest

from tests.support.demo_truth import AmbiguousSiteError, truth

LIBRARY, FACULTY, MIRROR = "http://library.test", "http://faculty.test", "http://mirror.test"


def normalize(url: str) -> str:
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


def test_faculty_redirects_end_where_they_should():
    found = truth("faculty")
    assert found.moved[f"{FACULTY}/go/5"] == f"{FACULTY}/go/end.html"
    assert found.moved[f"{FACULTY}/dean"] == f"{FACULTY}/staff/person-0.html"
    assert found.loops == {f"{FACULTY}/loop/{name}" for name in ("a", "b", "into", "self")}
    assert found.off_site == dict.fromkeys([f"{FACULTY}/off", f"{FACULTY}/off/again"], f"{LIBRARY}/heron-2/")
    assert found.refused == {f"{FACULTY}/no-such-page.html": 404, f"{FACULTY}/lost": 302}


def test_links_of_a_copy_count_for_its_representative():
    found = truth("mirror", normalize=normalize)
    group = next(group for group in found.groups if f"{MIRROR}/read/1.html" in group)
    assert f"{MIRROR}/print/1.html" in group
    for kind in ("read", "print"):
        assert (group[0], f"{MIRROR}/{kind}/notes/1.html") in found.edges


def test_without_normalisation_all_variants_are_copies():
    plain, normalized = truth("mirror"), truth("mirror", normalize=normalize)
    assert len(plain.pages) > 2 * len(normalized.pages)
    spelt = [urls for urls in normalized.variants.values() if len(urls) > 1]
    linked = " ".join(url for urls in spelt for url in urls)
    assert all(mark in linked for mark in ("sid=", "utm_", "test//article//", "b=2&a=1", "c=", "ref="))


def test_normalisation_that_merges_different_pages_is_an_error():
    with pytest.raises(AmbiguousSiteError, match="/list"):
        truth("mirror", normalize=lambda url: normalize(url).partition("?")[0])
