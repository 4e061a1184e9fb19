from __future__ import annotations

from lxml import html

from crawlers.extraction.article.article_text import lines_of, whole_text

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


def test_machine_readable_text_gets_the_visible_paragraphs():
    assert whole_text(SAID, SEEN) == (
        "The first paragraph is here.\nThe second one is there.\nThe third ends it.\nAnd this is not seen."
    )


def test_lead_missing_in_machine_readable_text_is_kept():
    lead = "A lead that tells in one long sentence of more than eighty characters what the article is about."
    first = "In the first paragraph some more words stand than in the lead, and they are said to machines also."
    assert whole_text(f"{first} {SAID * 3}", f"{lead}\nA name\n{first}\n{SEEN}").splitlines()[:2] == [lead, first]


def test_markup_is_not_text():
    assert whole_text("<p>One &amp; one</p><p>Two</p>", "") == "One & one\nTwo"


def test_beginning_of_a_text_is_not_complete():
    assert whole_text(SAID[:40], SEEN) is None
    assert whole_text(SAID + " …", SEEN) is None
    assert whole_text(SAID + " [+1200 chars]", SEEN) is None
    assert whole_text("", SEEN) is None


def test_different_text_is_not_complete():
    assert whole_text("Quite different words stand in what was said. " * 5, SEEN) is None


def test_text_without_visible_copy_is_complete():
    assert whole_text(SAID, "") == SAID
