"""Anchor, context and position of links, computed in linear time."""

import time

import pytest

from crawlers.pages.html import parse_page


def links(html):
    page = parse_page(html.encode(), None, frozenset({"a", "area", "iframe"}))
    return [page.link(index) for index in range(len(page.hrefs))]


def link(html):
    return links(html)[0]


@pytest.mark.parametrize(
    ("html", "anchor"),
    [
        ("<a href=x> two\n <b>words</b> </a>", "two words"),
        ("<a href=x><img src=i alt=' a  picture '></a>", "a picture"),
        ("<a href=x><img alt=picture>text</a>", "text"),
        ("<a href=x><script>no</script><style>no</style>yes</a>", "yes"),
        ("<a href=x>one<br>two</a>", "one two"),
        ("<a href=x><span><b> in  two </b></span></a>", "in two"),
        ("<a href=x><span><img alt=picture></span></a>", "picture"),
        ("<a href=x><span><script>no</script></span></a>", ""),
        ("<a href=x><div>one</div><div>two</div></a>", "one two"),
        ("<a href=x><!-- no --></a>", ""),
        ("<a href=x><img></a>after", ""),
        ("<map><area href=x alt='a corner'></map>", "a corner"),
        ("<iframe src=x>your browser is too old</iframe>", ""),
    ],
)
def test_anchor_is_the_visible_text(html, anchor):
    assert link(html).anchor == anchor


def test_anchor_is_truncated_to_200_characters():
    assert link(f"<a href=x>{'ab ' * 1000}</a>").anchor == ("ab " * 67)[:200].rstrip()


@pytest.mark.parametrize(
    ("html", "position"),
    [
        ("<nav><ul><li><a href=x>t</a></ul></nav>", "nav"),
        ("<footer><nav><a href=x>t</a></nav></footer>", "nav"),
        ("<main><header><p><a href=x>t</a></header></main>", "header"),
        ("<div role=Navigation><a href=x>t</a></div>", "nav"),
        ("<aside role=main><a href=x>t</a></aside>", "main"),
        ("<div role=button><a href=x>t</a></div>", ""),
    ],
)
def test_position_is_the_nearest_landmark(html, position):
    assert link(html).position == position


@pytest.mark.parametrize(
    ("html", "context"),
    [
        ("<p>See the <a href=x>manual</a> of it.</p>", "See the manual of it."),
        ("<p>See <i>the <b><a href=x>long</a></b> story</i>, please", "See the long story, please"),
        ("<ul><li>no<li><a href=x>yes</a><li>no</ul>", "yes"),
        ("<p>one<br><a href=x>two</a><br>three", "one two three"),
        ("<div>a <div>no</div> b <a href=x>c</a> d <div>no</div></div>", "b c d"),
        ("<p>a<script>no</script> <a href=x>b</a><!-- no --> c", "a b c"),
        ("<p><a href=x>b</a> and <a href=y>c</a>", "b and c"),
        ("<p>pre<a href=x>fix</a>ed", "prefixed"),
    ],
)
def test_context_is_the_text_of_the_block_in_reading_order(html, context):
    assert link(html).context == context


def test_context_ends_after_100_characters_on_each_side():
    before, after = "b" * 300, "a" * 300
    assert link(f"<p>{before} <a href=x>t</a> {after}").context == "b" * 100 + " t " + "a" * 99
    assert link(f"<p><i>{before}</i><a href=x>t</a><i>{after}</i>").context == "b" * 100 + "t" + "a" * 100


@pytest.mark.parametrize(
    "html",
    [
        "<p>" + "<a href=x>t</a> " * 10_000,
        "<p>" + "<a href=x></a>" * 10_000,
        "<p>" + "word " * 100_000 + "<a href=x></a>" * 10_000 + "word " * 100_000,
        "<i>x<a href=x>t</a>" * 10_000,
        "<a href=x><div>" * 10_000,
        "<nav>" + "<div>" * 300 + "<p><a href=x>t</a></p>" * 10_000,
    ],
    ids=["one-paragraph", "no-text", "long-text", "nested-styles", "nested-links", "deep"],
)
def test_querying_everything_takes_linear_time(html):
    start = time.process_time()
    for found in links(html):
        assert found.anchor + found.context + found.position is not None
    assert time.process_time() - start < 5  # 0.05 ms per link; quadratic would be minutes
