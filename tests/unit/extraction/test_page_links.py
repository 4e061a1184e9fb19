"""The position of links in valid and broken pages, their groups and their places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.urls.link_resolver import LinkResolver
from crawlers.algorithms.urls.redirect_targets import Redirect
from crawlers.algorithms.urls.resolution import resolve
from crawlers.extraction.html import parse_page
from crawlers.extraction.page_links import ANCESTORS, ID_CHARS, position
from crawlers.extraction.response import ResponseReader, WebResponse
from crawlers.items import LinkPlace, State

SITE = "http://a.example"
HTML = "text/html; charset=utf-8"
TAGS = frozenset({"a", "area", "link", "frame", "iframe", "meta"})
TYPES = frozenset({"text/html"})


def read(body: str, *, groups: bool = True, places: bool = False, status: int = 200, redirect: Redirect | None = None):
    response = WebResponse(f"{SITE}/dir/page.html", status, body.encode(), HTML, redirect)
    return ResponseReader(LinkResolver(), TAGS, TYPES, groups, places).read(response, 7, 3, 0.0)


def positions(body: str) -> list[str]:
    """The position of every link of *body*, in document order."""
    parsed = parse_page(body.encode(), HTML, TAGS)
    parents = (parsed.node(index).parent for index in range(len(parsed.hrefs)))
    return ["" if parent is None else position(parent) for parent in parents]


def groups(body: str) -> dict[str, str]:
    """The group of every internal link of *body*, by its path."""
    page = read(body)
    assert page.link_groups is not None
    return {target.url.removeprefix(SITE): page.link_groups[target.key] for target, _ in page.links}


# Positions


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("<ul class=menu><li class='item first'><a href=x>x</a></ul>", "ul/li.item"),
        ("<ul><li><a href=x class=own>x</a></ul>", "ul/li"),
        ("<a href=x>x</a>", "html/body"),
        ("<body class=dark><a href=x>x</a>", "html/body.dark"),
        ("<p><b><i><a href=x>x</a></i></b>", "b/i"),
        ("<a name=n><p><a href=x>x</a>", "body/p"),
        ("<table><a href=x>before the table it stands</a><tr><td>1</table>", "html/body"),
        ("<table><tr><td><a href=x>x</a></table>", "tr/td"),
        ("<svg><g class=node><a href=x>x</a></g></svg>", "svg/g.node"),
        ("<svg><a href=x>x</a></svg>", "body/svg"),
        ("<math><mtext><a href=x>x</a></mtext></math>", "math/mtext"),
        ("<p>t</p><noscript><p><a href=x>x</a></p></noscript>", "noscript/p"),
        ("<map><area href=x></map>", "body/map"),
        ("<my-list class=c><my-item><a href=x>x</a>", "my-list/my-item"),
        ("<div class=''><a href=x>x</a></div>", "body/div"),
        ("<div class><a href=x>x</a></div>", "body/div"),
        ("<div class=' \t\n '><a href=x>x</a></div>", "body/div"),
        ("<div class='\n  late\tmore'><a href=x>x</a></div>", "body/div.late"),
        ("<frameset><frame src=x></frameset>", "html/frameset"),
        ("<p><iframe src=x></iframe>", "body/p"),
        ("<head><meta http-equiv=refresh content='0; url=x'>", "html/head"),
        ("<head><link rel=next href=x>", "html/head"),
        ("</p></div></body></html><a href=x>after the end</a>", "html/body"),
        ("<form><select><option><a href=x>x</a></select></form><a href=x>x</a>", "html/body"),
    ],
)
def test_position_of_a_link_is_given_by_the_surrounding_tags(body, wanted):
    assert positions(body)[-1] == wanted


@given(st.text("<>/ ='\"acdilpuv\n\t", max_size=80).map(lambda text: f"{text}<a href=x>x</a>"))
def test_links_of_broken_pages_have_a_position(body):
    for one in positions(body):
        assert one.count("/") >= 1


# Groups


def test_links_of_one_list_and_one_folder_form_a_group():
    found = groups(
        "<ul class=menu><li><a href=/about>1</a><li><a href=/staff>2</a></ul>"
        "<div class=news><p><a href=/news/1.html>3</a><p><a href=/news/22.html?x=/y/>4</a>"
        "<p><a href=/old/1.html>5</a></div>"
    )
    assert found == {
        "/about": f"ul/li {SITE}/",
        "/staff": f"ul/li {SITE}/",
        "/news/1.html": f"div/p {SITE}/news/",
        "/news/22.html?x=/y/": f"div/p {SITE}/news/",
        "/old/1.html": f"div/p {SITE}/old/",
    }


def test_first_of_several_links_to_a_target_counts():
    body = "<dt><a href=/x>1</a></dt><ul><li><a href=/x>2</a></ul><p><a href=/y>3</a></p><dt><a href=/y>4</a></dt>"
    assert groups(body) == {"/x": f"body/dt {SITE}/", "/y": f"body/p {SITE}/"}


def test_url_variants_have_the_position_of_the_first_one():
    body = "<dt><a href=/x/>1</a></dt><ul><li><a href=/x>2</a><li><a href='//a.example/x/'>3</a></ul>"
    page = read(body)
    assert {page.link_groups[target.key].partition(" ")[0] for target, _ in page.links} == {"body/dt"}


def test_numbered_headings_and_classes_are_merged():
    body = "<h2 class=c1><a href=/x>1</a></h2><h3 class=c27><a href=/y>2</a></h3>"
    assert set(groups(body).values()) == {f"body/h0.c0 {SITE}/"}


def test_bad_and_external_links_are_ignored():
    body = "<h1><a href='http://['>1</a><a href=http://b.example/x>2</a></h1><p><a href=/x>3</a>"
    assert groups(body) == {"/x": f"body/p {SITE}/"}


def test_links_are_resolved_under_the_base_of_the_page():
    body = "<base href=/deep/er/><p><a href=x.html>1</a><p><a href=../y.html>2</a>"
    assert groups(body) == {"/deep/er/x.html": f"body/p {SITE}/deep/er/", "/deep/y.html": f"body/p {SITE}/deep/"}


def test_link_that_is_internal_only_by_the_base_has_a_position():
    page = read("<base href='http://a.example:80/b/'><p><a href='http:x.html'>1</a><p><a href=''>2</a>")
    assert [page.link_groups[target.key].partition(" ")[0] for target, _ in page.links] == ["body/p"] * len(page.links)
    assert page.links


def test_frames_and_refreshes_have_groups():
    body = "<meta http-equiv=refresh content='3;/next'><frameset><frame src=/left><frame src=/main/right></frameset>"
    assert groups(body) == {
        "/next": f"html/head {SITE}/",
        "/left": f"html/frameset {SITE}/",
        "/main/right": f"html/frameset {SITE}/main/",
    }


def test_removing_scripts_keeps_the_positions_of_adjacent_links():
    script = "<script>document.write('<a href=/no>')</script><style>a{}</style>"
    body = f"<ul>{script}<li>{script}<a href=/x>{script}1</a>{script}</ul>{script}<a href=/y>2</a>"
    assert groups(body) == {"/x": f"ul/li {SITE}/", "/y": f"html/body {SITE}/"}


@pytest.mark.parametrize("outer", ["svg", "math"])
@pytest.mark.parametrize("inner", ["script", "style"])
def test_links_within_removed_elements_have_a_group_without_a_position(outer, inner):
    """In SVG and MathML scripts and styles are elements like others, and may hold links."""
    body = f"<p><a href=/a>1</a></p><{outer}><{inner}><g><a href=/x>2</a></g></{inner}></{outer}><p><a href=/b>3</a>"
    found = groups(body)
    assert found.pop("/a") == found.pop("/b") == f"body/p {SITE}/"
    assert set(found.values()) <= {f" {SITE}/"}


def test_groups_can_be_queried_repeatedly_in_any_order():
    page = read("".join(f"<div class={'abc'[n % 3]}><a href=/f{n}/x>1</a></div>" for n in range(50)))
    targets = [target for target, _ in page.links]
    once = [page.link_groups[target.key] for target in reversed(targets)]
    assert [page.link_groups[target.key] for target in targets] == once[::-1]
    assert len(set(once)) == 3


def test_pages_with_too_deep_nesting_have_groups():
    found = groups("<div>" * 20_000 + "<a href=/x>1</a>")
    assert found == {"/x": f"html/body {SITE}/"}


TAGS_OF_LISTS = ["<ul>", "<li>", "</ul>", "<a href=/x>", "<a href=/y/z>", "</a>", "<svg>", "<style>", "</style>", "t"]


@given(st.lists(st.sampled_from(TAGS_OF_LISTS)))
def test_every_internal_link_of_any_page_has_a_group(parts):
    for group in groups("".join(parts)).values():
        assert group.partition(" ")[2].startswith(SITE)


# Places


def places(body: str) -> dict[str, LinkPlace]:
    """The place of every internal link of *body*, by its path."""
    page = read(body, places=True)
    assert page.link_places is not None
    return {target.url.removeprefix(SITE): page.link_places[target.key] for target, _ in page.links}


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("<a href=x>x</a>", ""),
        ("<div id=main class='c d'><ul><li class=item><a href=x>x</a></ul></div>", "div#main.c/ul/li.item"),
        ("<section id=post-4711><p id=p5><a href=x>x</a></section>", "section#post-0/p"),
        ("<div id=''><a href=x>x</a></div>", "div"),
        ("<table id=t><tr><td><a href=x>x</a></table>", "table#t/tbody/tr/td"),
        ("<div>" * 50 + "<a href=x>x</a>", "/".join(["div"] * ANCESTORS)),
        (f"<nav id={'i' * 500}><a href=x>x</a></nav>", f"nav#{'i' * ID_CHARS}"),
        ("<frameset><frame src=x></frameset>", "frameset"),
    ],
)
def test_path_of_a_link_is_given_by_its_ancestors(body, wanted):
    assert places(body)["/dir/x"].path == wanted


def test_place_is_that_of_the_first_link_to_a_target_with_its_text():
    found = places("<ul class=menu><li><a href=/x> The <b>news</b>\n of today</a></ul><p><a href=/x>2</a>")
    assert found == {"/x": LinkPlace("ul/li", "ul.menu/li", "The news of today")}


def test_reader_without_places_returns_none():
    assert read("<a href=/x>1</a>").link_places is None


@given(st.lists(st.sampled_from(TAGS_OF_LISTS)))
def test_every_internal_link_of_any_page_has_a_place(parts):
    page = read("".join(parts), places=True)
    assert page.link_places is not None
    for target, _ in page.links:
        assert page.link_places[target.key].path.count("/") < ANCESTORS


# Readers and responses without groups


def test_reader_without_groups_returns_none():
    assert read("<a href=/x>1</a>", groups=False).link_groups is None


MOVED = Redirect(resolve(f"{SITE}/", "/moved"))


@pytest.mark.parametrize(("status", "redirect"), [(301, MOVED), (301, Redirect(None, "no location")), (404, None)])
def test_response_that_is_not_a_page_has_no_groups(status, redirect):
    page = read("<a href=/x>1</a>", status=status, redirect=redirect)
    assert page.link_groups is None
    assert page.state is (State.MOVED if redirect is MOVED else State.REFUSED)
