from lxml import html

from crawlers.missions.news.article.text_blocks import hidden_text, lines_of

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
