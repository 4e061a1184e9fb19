from __future__ import annotations

from lxml import html

from crawlers.extraction.article.article_text import hidden_text, lines_of

SEEN = "The first paragraph is here.\nRead also: cheap flights\nThe second one is there.\nThe third ends it."
SAID = "The first paragraph is here. The second one is there.The third ends it. And this is not seen."


def test_blocks_are_lines_and_scripts_are_ignored():
    node = html.fragment_fromstring(
        "<div>One <b>bold</b>\nword<p>Two</p><script>x()</script><!-- no --> three<br>four<ul><li>5<li>6</ul></div>"
    )
    assert lines_of(node) == "One bold word\nTwo\nthree\nfour\n5\n6"


def test_the_tail_of_a_node_is_not_its_text():
    node = html.fragment_fromstring("<div><p>in</p>out</div>")[0]
    assert lines_of(node) == "in"


def test_machine_readable_text_is_used_where_the_page_shows_less_than_half_of_it():
    assert hidden_text(SAID, SEEN[:40]) == SAID
    assert hidden_text(SAID, SEEN) is None
    assert hidden_text(SAID * 3, SEEN) == SAID * 3


def test_markup_is_not_text():
    assert hidden_text("<p>One &amp; one</p><p>Two</p>", "") == "One & one\nTwo"


def test_beginning_of_a_text_is_not_complete():
    assert hidden_text(SAID + " …", "") is None
    assert hidden_text(SAID + " [+1200 chars]", "") is None
    assert hidden_text("", "") is None


def test_different_text_is_not_used():
    assert hidden_text("Quite different words stand in what was said. " * 9, SEEN) is None


def test_text_that_the_page_does_not_show_is_used():
    assert hidden_text(SAID, "") == SAID
