"""Every internal link has a place, on any page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.items import LinkPlace, State
from crawlers.missions.extlinks.rewards import ANCESTORS, with_places
from crawlers.pages.response import ResponseReader, WebResponse
from crawlers.urls.link_resolver import LinkResolver
from crawlers.urls.resolution import Redirect, resolve

SITE = "http://a.example"
HTML = "text/html; charset=utf-8"
LINK_TAGS = frozenset({"a", "area", "link", "frame", "iframe", "meta"})
HTML_TYPES = frozenset({"text/html"})


def read_links(body, *, page="/dir/page.html", status=200, redirect=None):
    response = WebResponse(f"{SITE}{page}", status, body.encode(), HTML, redirect)
    return ResponseReader(LinkResolver(), LINK_TAGS, HTML_TYPES, analysis=with_places).read(response, 7, 3, 0.0)


def places(body):
    """The place of every internal link of *body*, by its path."""
    page = read_links(body)
    return {target.url.removeprefix(SITE): page.facts[target.key] for target, _ in page.links}


def positions_by_path(body):
    """The position of every internal link of *body*, by its path."""
    return {path: place.position for path, place in places(body).items()}


# Positions


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("<ul class=menu><li class='item first'><a href=x>x</a></ul>", "ul/li.item"),
        ("<head><meta http-equiv=refresh content='0; url=x'>", "html/head"),
        ("<head><link rel=next href=x>", "html/head"),
        ("<form><select><option><a href=x>x</a></select></form><a href=y>y</a>", "html/body"),
    ],
)
def test_position_of_a_link_is_given_by_the_surrounding_tags(body, wanted):
    assert [*positions_by_path(body).values()][-1] == wanted


@given(st.text("<>/ ='\"acdilpuv\n\t", max_size=80).map(lambda text: f"{text}<a href=x>x</a>"))
def test_links_of_broken_pages_have_a_position(body):
    for one in positions_by_path(body).values():
        assert one.count("/") >= 1


# Positions by path


def test_url_variants_have_the_position_of_the_first_one():
    body = "<dt><a href=/x/>1</a></dt><ul><li><a href=/x>2</a><li><a href='//a.example/x/'>3</a></ul>"
    page = read_links(body)
    assert {page.facts[target.key].position for target, _ in page.links} == {"body/dt"}


def test_bad_and_external_links_are_ignored():
    body = "<h1><a href='http://['>1</a><a href=http://b.example/x>2</a></h1><p><a href=/x>3</a>"
    assert positions_by_path(body) == {"/x": "body/p"}


def test_link_that_is_internal_only_by_the_base_has_a_position():
    page = read_links("<base href='http://a.example:80/b/'><p><a href='http:x.html'>1</a><p><a href=''>2</a>")
    assert [page.facts[target.key].position for target, _ in page.links] == ["body/p"] * len(page.links)
    assert page.links


@pytest.mark.parametrize("outer", ["svg", "math"])
@pytest.mark.parametrize("inner", ["script", "style"])
def test_links_within_elements_that_are_removed_for_a_text_have_no_position_then(outer, inner):
    """In SVG and MathML scripts and styles are elements like others, and may hold links."""
    body = f"<p><a href=/a>1</a></p><{outer}><{inner}><g><a href=/x>2</a></g></{inner}></{outer}><p><a href=/b>3</a>"
    for page, wanted in (("/page.html", {f"{inner}/g", ""}), ("/2.html", {""})):  # the text of the second is signed
        links = read_links(body, page=page)
        found = {target.url.removeprefix(SITE): links.facts[target.key].position for target, _ in links.links}
        assert found.pop("/a") == found.pop("/b") == "body/p"
        assert set(found.values()) <= wanted


def test_pages_with_too_deep_nesting_have_positions():
    found = positions_by_path("<div>" * 20_000 + "<a href=/x>1</a>")
    assert found == {"/x": "html/body"}


TAGS_OF_LISTS = ["<ul>", "<li>", "</ul>", "<a href=/x>", "<a href=/y/z>", "</a>", "<svg>", "<style>", "</style>", "t"]


# Places


def test_place_is_that_of_the_first_link_to_a_target_with_its_text():
    found = places("<ul class=menu><li><a href=/x> The <b>news</b>\n of today</a></ul><p><a href=/x>2</a>")
    assert found == {"/x": LinkPlace("ul/li", "ul.menu/li", "The news of today")}


@given(st.lists(st.sampled_from(TAGS_OF_LISTS)))
def test_every_internal_link_of_any_page_has_a_place(parts):
    page = read_links("".join(parts))
    for target, _ in page.links:
        assert page.facts[target.key].path.count("/") < ANCESTORS


MOVED = Redirect(resolve(f"{SITE}/", "/moved"))


@pytest.mark.parametrize(("status", "redirect"), [(301, MOVED), (301, Redirect(None, "no location")), (404, None)])
def test_response_that_is_not_a_page_has_no_positions_by_path(status, redirect):
    page = read_links("<a href=/x>1</a>", status=status, redirect=redirect)
    assert page.facts is None
    assert page.state is (State.MOVED if redirect is MOVED else State.REFUSED)
