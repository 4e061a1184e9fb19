import pytest
from lxml import html

from crawlers.missions.news.article import text_blocks as module
from crawlers.missions.news.article.text_blocks import Kind, hidden_text, lines_of, page_tree, text_blocks

SEEN = "The first paragraph is here.\nRead also: cheap flights\nThe second one is there.\nThe third ends it."


def test_blocks_are_lines_and_scripts_are_ignored():
    node = html.fragment_fromstring(
        "<div>One <b>bold</b>\nword<p>Two</p><script>x()</script><!-- no --> three<br>four<ul><li>5<li>6</ul></div>"
    )
    assert lines_of(node) == "One bold word\nTwo\nthree\nfour\n5\n6"


def test_markup_is_not_text():
    assert hidden_text("<p>One &amp; one</p><p>Two</p>", "") == "One & one\nTwo"


def test_different_text_is_not_used():
    assert hidden_text("Quite different words stand in what was said. " * 9, SEEN) is None


LONG = "A sentence of the article, which is long enough to be most of the text. " * 5


def blocks(body):
    page = f"<!doctype html><html><head><title>No</title></head><body>{body}</body></html>"
    return text_blocks(page_tree(page.encode()))


def kinds(block):
    return {kind.name.lower() for kind in Kind if block.kind & kind}


def test_block_elements_and_line_breaks_end_blocks():
    body = "one <b>bold</b>\nword<p>two <a href=/>link</a></p>three<br>four<script>x()</script> more<!-- no --> end"
    assert [(one.text, one.link_chars, one.tag) for one in blocks(body)] == [
        ("one bold word", 0, "body"),
        ("two link", 4, "p"),
        ("three", 0, "body"),
        ("four more end", 0, "body"),
    ]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<footer>x</footer>", {"footer"}),
        ("<div class='side post-comments'><p>x</div>", {"comment"}),
        ("<div hidden>x</div>", {"hidden"}),
        ("<div style='color:red; DISPLAY : none'>x</div>", {"hidden"}),
        ("<p class=headline>x", set()),
        ("<p class=Author-Name id=Ad>x", {"byline", "promotion"}),
        ("<p class=reauthorised id=broad>x", set()),
    ],
)
def test_kinds_come_from_tags_and_classes(html, expected):
    assert kinds(blocks(f"{html}<p>{LONG}")[0]) == expected


def test_element_with_much_of_the_page_is_only_a_wrapper():
    """A <nav> that is never closed contains the article."""
    menu, text = blocks(f"<nav><ul><li class=menu>Home</li></ul><article><p>{LONG}</p></article>")
    assert kinds(menu) == {"item", "promotion"}
    assert kinds(text) == {"article"}


def test_large_and_deep_pages_are_cut(monkeypatch):
    assert len(blocks("<p>x" * (module.MAX_BLOCKS + 10))) == module.MAX_BLOCKS
    monkeypatch.setattr(module, "MAX_ELEMENTS", 10)
    assert len(blocks("<p>x" * 100)) == 9
    monkeypatch.undo()
    deep = blocks("<div>x" * 200)
    assert max(len(one.containers) for one in deep) == module.MAX_LEVELS
