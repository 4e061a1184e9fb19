"""Forms of a word are one term, in three languages and in other scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.errors import ConfigError
from crawlers.missions.topic.vectors import AUTO, LANGUAGES, MAX_CHARS, Terms, language_code

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


@pytest.mark.parametrize("code", [AUTO, "zh", *LANGUAGES])
def test_every_supported_language_counts_words(code):
    assert sum(Terms(code)("computer компьютер 电脑").values()) == 3


@pytest.mark.parametrize(
    ("name", "code"), [("RU", "ru"), (" english ", "en"), ("Chinese", "zh"), ("Auto", "auto"), ("yiddish", "yi")]
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
