"""Topics: cosine similarities, and the weights of the strategies.

Forms of a word are one term, in three languages and in other scripts.
"""

from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.errors import ConfigError
from crawlers.missions.topic.vectors import (
    AUTO,
    MAX_CHARS,
    STRATEGIES,
    DocumentFrequencies,
    Terms,
    Topic,
    Weights,
    language_code,
    languages,
    topic_of,
)

terms = st.sampled_from("abcdef")
counts = st.dictionaries(terms, st.integers(1, 1000))
weights = st.dictionaries(terms, st.floats(1e-3, 1e3), min_size=1)


@pytest.mark.parametrize(
    ("topic", "text", "cosine"),
    [
        ({"a": 1}, {"a": 7}, 1.0),
        ({"a": 1}, {"b": 1}, 0.0),
        ({"a": 1}, {}, 0.0),
        ({"a": 1, "b": 1}, {"a": 1}, 1 / sqrt(2)),
        ({"a": 2, "b": 1}, {"a": 1, "b": 2, "c": 2}, (2 + 2) / (sqrt(5) * 3)),
    ],
)
def test_relevance_of_a_text_is_the_cosine_similarity(topic, text, cosine):
    assert Topic(topic).anchor_relevance(text) == pytest.approx(cosine, abs=1e-15)


@given(weights, counts)
def test_cosines_are_shares(topic, text):
    seen = DocumentFrequencies([text, topic])
    for value in (Topic(topic).anchor_relevance(text), Topic(topic).tf_idf_similarity(text, seen)):
        assert 0.0 <= value <= 1.0
        assert (value > 0.0) == bool(topic.keys() & text.keys())


def test_weight_of_a_term_grows_with_its_inverse_document_frequency():
    seen = DocumentFrequencies([["a", "b"], ["a"], ["a"], ["a", "a"]])
    b = 1.0 + log(4)
    assert (seen.documents, *map(seen.idf, ["a", "b", "never seen"])) == (4, 1.0, b, b)
    assert DocumentFrequencies().idf("a") == 1.0
    expected = (1 * 3 + b * 2 * b) / (sqrt(1 + b**2) * sqrt(9 + (2 * b) ** 2))
    assert Topic({"a": 1, "b": 1}).tf_idf_similarity({"a": 3, "b": 2}, seen) == pytest.approx(expected)


def test_topic_of_examples_is_the_mean_of_their_directions():
    topic = topic_of({}, [{"a": 30, "b": 40}, {"a": 1}])  # (0.6, 0.8) and (1, 0): the length of a page does not matter
    assert topic.terms["a"] / topic.terms["b"] == pytest.approx(1.6 / 0.8)


def test_strongest_terms_of_examples_and_all_keywords_are_kept():
    page = {f"word{number:03}": 1 + (number == 70) for number in range(100)}
    keywords = {f"key{number}": 1.0 for number in range(60)}
    kept = topic_of(keywords, [page]).terms.keys()
    assert kept == keywords.keys() | {"word070"} | {f"word{number:03}" for number in range(49)}


def test_topic_without_terms_is_refused():
    with pytest.raises(ConfigError, match="no terms; give keywords, or example pages with text"):
        topic_of({}, [{}])


def test_strategies_are_those_of_the_paper_and_one_that_learns():
    assert {
        "learnt": Weights(0.5, 0, 0, 0.5),
        "anchor": Weights(1, 0, 0),
        "breadth": Weights(0, 1, 0),
        "links": Weights(0, 0, 1),
        "mixed": Weights(0.4, 0.3, 0.3),
    } == STRATEGIES


@pytest.mark.parametrize(
    "wrong", [(-0.5, 1, 0.5), (1.5, -0.5, 0), (0, 0, 1.5), (float("nan"), 0.5, 0.5), (float("inf"), 0, 0)]
)
def test_each_weight_must_be_a_share(wrong):
    with pytest.raises(ConfigError, match="each weight must be from 0 to 1; change them so that they sum to 1"):
        Weights(*wrong)


auto = Terms()


def test_forms_of_a_russian_word_are_one_term():
    assert auto("Кодировка, кодировки и кодировку; о кодировках") == {"кодировк": 4}
    assert auto("ёлка") == auto("елка"), "many write no ё"


def test_the_script_of_the_first_letter_decides_how_a_word_is_stemmed():
    assert auto("частицами") == {"частиц": 1}
    assert auto("βчастицами") == {"βчастицами": 1}, "Greek has no stemmer"
    assert auto("ԱՐԵՎ") == {"արեվ": 1}, "Armenian follows Cyrillic in Unicode"


def test_chinese_terms_are_pairs_of_characters_between_function_words():
    assert auto("字符编码的历史") == {"字符": 1, "符编": 1, "编码": 1, "历史": 1}
    assert auto("我们因为这个数据库") == {"数据": 1, "据库": 1}
    assert auto("码") == {"码": 1}, "a character that stands alone"
    assert auto("的") == {}


def test_japanese_terms_are_katakana_words_and_pairs_of_characters():
    assert auto("データベースの索引について") == {"データベース": 1, "索引": 1}


@pytest.mark.parametrize(
    "text", ["", "of the and it's don't", "и в не которых", "1991 12 ½ 10", "C b я", "… — +", "_ __"]
)
def test_function_words_numbers_and_single_letters_are_not_terms(text):
    assert auto(text) == {}


def test_equivalent_spellings_are_one_term():
    forms = ["coöperation’s", "COO\u0308PERATION'S", "coöper\xadation's"]
    assert len({frozenset(auto(form).items()) for form in forms}) == 1
    assert auto("don’t we’ll") == auto("don't we'll") == {}
    assert Terms("zh")("the users' 'files'") == {"the": 1, "users": 1, "files": 1}
    assert auto("ｕｔｆ８ ﬁle") == {"utf8": 1, "file": 1}, "wide forms and ligatures"


def test_vowel_signs_belong_to_their_word():
    assert Terms("hi")("किताबें") != Terms("hi")("कत")
    assert list(auto("हिन्दी")) == ["हिन्दी"], "without a language that we know by script, a word stays as it is"
    assert list(auto("ἀγορά")) == ["ἀγορά"]


def test_long_runs_of_letters_are_encoded_data():
    assert auto("a" * 40 + " " + "b" * 41) == {"a" * 40: 1}


def test_only_the_beginning_of_a_text_is_read():
    assert auto("word " * MAX_CHARS) == {"word": MAX_CHARS // 5}


def test_configured_language_determines_the_stemmer():
    assert Terms("german")("Häuser Haus") == {"haus": 2}
    assert Terms("fr")("l'homme, les hommes")["homm"] == 2
    assert Terms("ru")("тексты encodings") == {"текст": 1, "encodings": 1}
    assert Terms("zh")("编码 encodings") == {"编码": 1, "encodings": 1}


@pytest.mark.parametrize("code", [AUTO, "zh", *languages()])
def test_every_supported_language_counts_words(code):
    assert len(languages()) == 34, "of all stemmers but two older ones"
    assert sum(Terms(code)("computer компьютер 电脑").values()) == 3


@pytest.mark.parametrize(
    ("name", "code"), [("RU", "ru"), (" english ", "en"), ("Chinese", "zh"), ("Auto", "auto"), ("sesotho", "st")]
)
def test_languages_are_accepted_by_code_and_by_english_name(name, code):
    assert language_code(name) == code


@pytest.mark.parametrize("name", ["", "klingon", "xx", "русский"])
def test_message_about_an_unknown_language_lists_the_supported_ones(name):
    with pytest.raises(ConfigError) as caught:
        Terms(name)
    assert str(caught.value).startswith(f"language: unknown language {name!r}; choose one of: auto zh ar ")


@given(st.text(max_size=200))
def test_any_text_has_terms_without_error_and_counts_are_positive(text):
    counts = auto(text)
    assert all(term and number > 0 for term, number in counts.items())
    assert counts == Terms()(text), "cached words do not change the result"
