import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.missions.news.article import text_choice as module
from crawlers.missions.news.article.text_blocks import Kind, TextBlock
from crawlers.missions.news.article.text_choice import OF_BLOCKS, article_blocks, best_set, features, votes
from crawlers.ranking.link_features import shipped_weights

STORY = [
    f"Paragraph {number} tells at some length, and with commas, what the wind did to the roofs of the town." * 2
    for number in range(8)
]
BODY, MENU, STORY_BOX, COMMENTS = range(4)


def block(text, box=STORY_BOX, tag="p", look="p ", kind=0, link_chars=0):
    number = 10 + sum(map(ord, text))
    return TextBlock(text, link_chars, tag, look, f"div box{box}", (BODY, box, number), kind)


def paragraphs():
    return [block(text, kind=Kind.ARTICLE) for text in STORY]


def menu():
    return [
        block(text, MENU, "li", "li item", Kind.PROMOTION | Kind.ITEM, len(text)) for text in ("Home", "Sport", "Shop")
    ]


def comments():
    kind = Kind.COMMENT | Kind.ITEM
    return [block(f"I never liked the wind, number {n}, nor did my dog.", COMMENTS, kind=kind) for n in range(9)]


def test_paragraphs_are_chosen():
    assert article_blocks([*menu(), *paragraphs(), *comments()]) == paragraphs()


@pytest.mark.parametrize(
    ("text", "other"), [("हिन्दी", "हादसा नदी"), ("ไทยรัฐที่นี่", "ไฟ น"), ("العَرَبِيَّة", "الع دار"), ("İzmir", "Zmir")]
)
def test_marks_do_not_cut_words(text, other):
    columns = features([block(text), block(other)], text)
    assert columns["like the description"].tolist() == [1, 0]


def test_mark_is_no_word_and_danda_ends_one():
    columns = features([block("दिन\u0964रात"), block("\u0301 day")], "दिन day")
    assert columns["like the description"].tolist() == pytest.approx([2 / 4, 2 / 3])


def test_repeated_slogan_does_not_count_as_described():
    slogan = "The Daily Town brings you the latest news, sport, politics and opinion from the town and the region."
    blocks = [block(slogan, MENU), *paragraphs(), block(slogan, COMMENTS)]
    assert features(blocks, slogan)["like the description"][[0, -1]].tolist() == [0, 0]
    assert features(blocks[:-1], slogan)["like the description"][0] == 1


def test_words_of_large_pages_are_not_all_read(monkeypatch):
    monkeypatch.setattr(module, "_MOST_WORD_CHARS", 13)
    blocks = [block(text) for text in ("wind roof", "roof wind", "wind")]
    columns = features(blocks, "wind roof")
    assert columns["like the description"].tolist() == pytest.approx([1, 2 / 3, 0])


@given(st.lists(st.tuples(st.floats(0.001, 0.999), st.integers(1, 9)), min_size=1, max_size=7))
@settings(max_examples=100)
def test_best_set_has_the_greatest_expected_f1(drawn):
    p, lengths = np.array([one for one, _ in drawn]), np.array([float(one) for _, one in drawn])

    def expected(is_chosen):
        return 2 * (p * lengths * is_chosen).sum() / ((lengths * is_chosen).sum() + (p * lengths).sum())

    subsets = [[bool(number >> bit & 1) for bit in range(len(p))] for number in range(1, 2 ** len(p))]
    best = max(expected(np.array(subset)) for subset in subsets)
    assert expected(best_set(p, lengths)) == pytest.approx(best)


def test_shipped_weights_are_those_of_features():
    weights, columns = shipped_weights(OF_BLOCKS), features(paragraphs())
    further = votes(paragraphs(), np.ones(len(STORY)))
    assert {""} <= set(weights["first"]) <= {"", *columns}
    assert {""} <= set(weights["second"]) <= {"", *columns, *further}


BLOCKS = st.lists(
    st.builds(
        TextBlock,
        st.text(st.characters(exclude_categories=["Cs", "Z", "C"]), min_size=1, max_size=200),
        st.just(0),
        st.sampled_from(["p", "div", "li", "h1", "td"]),
        st.sampled_from(["p ", "div x"]),
        st.sampled_from(["", "div y"]),
        st.lists(st.integers(0, 5), min_size=1, max_size=4).map(tuple),
        st.integers(0, 2 ** len(Kind) - 1),
    ),
    min_size=1,
    max_size=12,
)


@given(BLOCKS, st.text(max_size=100))
@settings(max_examples=60)
def test_features_are_shares(blocks, description):
    columns = features(blocks, description)
    for name, column in (columns | votes(blocks, columns["length"])).items():
        assert column.shape == (len(blocks),), name
        assert ((column >= 0) & (column <= 1 + 1e-9)).all(), name
    chosen = article_blocks(blocks, description)
    assert chosen
    assert set(chosen) <= set(blocks)


def test_first_probabilities_before_a_second_article_are_all():
    other = [block(text.replace("roofs", "gardens")) for text in STORY[:5]]
    columns = votes([*paragraphs(), *other], np.array([1.0] * 8 + [0.0] * 5))
    assert columns["first, before"].tolist() == pytest.approx([n / 8 for n in range(8)] + [1.0] * 5)
