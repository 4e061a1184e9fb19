"""The ground truth about the demo sites has the features that crawlers are tested for."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

import networkx as nx
import pytest

from examples.webs import Web, library
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


@pytest.mark.parametrize("scale", [1, 3])
def test_library_has_200_pages_per_scale_and_no_copies(scale):
    found = truth("library", scale=scale)
    assert len(found.pages) == len(found.nodes) == 200 * scale
    assert (found.copies, found.moved, found.refused) == ({}, {}, {})


def test_library_is_deep_and_pages_are_reachable_on_several_levels():
    found = truth("library")
    assert max(found.pages.values()) == 15
    assert any(found.pages[a] + 1 > found.pages[b] + 1 for a, b in found.edges if found.pages[b])
    depth = {LIBRARY + library.path_of(Web(), n): library.path_of(Web(), n).rstrip("/").count("/") for n in range(160)}
    assert any(found.pages[url] < depth[url] for url in depth)


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


@pytest.mark.parametrize("site", ["library", "faculty", "mirror"])
def test_truth_does_not_depend_on_the_origins(site):
    origins = {name: f"http://127.0.0.1:{n}" for n, name in enumerate(Web().origins, 8001)}
    here, there = truth(site), truth(site, origins)
    assert {urlsplit(url)._replace(netloc="") for url in here.pages} == {
        urlsplit(url)._replace(netloc="") for url in there.pages
    }
    assert len(here.edges) == len(there.edges)


def test_faculty_redirects_end_where_they_should():
    found = truth("faculty")
    assert found.moved[f"{FACULTY}/go/5"] == f"{FACULTY}/go/end.html"
    assert found.moved[f"{FACULTY}/dean"] == f"{FACULTY}/staff/person-0.html"
    assert found.loops == {f"{FACULTY}/loop/{name}" for name in ("a", "b", "into", "self")}
    assert found.off_site == dict.fromkeys([f"{FACULTY}/off", f"{FACULTY}/off/again"], f"{LIBRARY}/heron-2/")
    assert found.refused == {f"{FACULTY}/no-such-page.html": 404, f"{FACULTY}/lost": 302}


def test_redirect_does_not_add_a_level():
    found = truth("faculty")
    lectures = [found.pages[f"{FACULTY}/courses/course-7/lecture-{n}.html"] for n in range(1, 8)]
    assert lectures == [3, 4, 5, 6, 7, 1, 2]
    assert max(found.pages.values()) == 9


def test_normalised_folder_and_its_redirect_are_one_page():
    found = truth("faculty", normalize=normalize)
    assert f"{FACULTY}/staff/" in found.pages
    assert f"{FACULTY}/staff/" not in found.moved
    assert found.variants[f"{FACULTY}/staff/"] >= {f"{FACULTY}/staff", f"{FACULTY}/staff/"}


def test_frames_areas_and_refreshes_are_followed_only_if_selected():
    anchors, everything = truth("faculty", tags=("a",)), truth("faculty")
    hidden = {urlsplit(url).path for url in set(everything.pages) - set(anchors.pages)}
    assert hidden >= {"/frames/menu.html", "/frames/under/deep.html", "/news/latest.html"}
    assert hidden >= {"/rooms/room-3.html", "/refresh/b.html", "/refresh/ring.html"}
    assert set(anchors.pages) < set(everything.pages)


def test_base_is_applied_and_comments_and_scripts_are_ignored():
    found = truth("faculty")
    paths = {urlsplit(url).path for url in found.pages}
    assert {"/rooms/x/hidden.html", "/base/deep/down.html", "/base/only-by-base-target.html"} <= paths
    assert not any("commented" in url or "scripted" in url for url in [*found.pages, *found.refused])
    assert "http://archive.test/records/4.html" in found.external


def test_mirror_copies_are_above_and_below_their_originals():
    found = truth("mirror", normalize=normalize)
    assert found.copies[f"{MIRROR}/article/3/"] == f"{MIRROR}/front-again.html"
    assert found.copies[f"{MIRROR}/old/7/copy.html"] == f"{MIRROR}/article/4/"
    assert found.pages[f"{MIRROR}/old/7/copy.html"] - found.pages[f"{MIRROR}/article/4/"] > 4
    assert found.copies[f"{MIRROR}/index.html"] == f"{MIRROR}/"
    assert len(found.copies) > 10


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
