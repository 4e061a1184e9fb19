"""topic.yaml: its values, and one message for every mistake.

The stored topic of a crawl.
"""

import random
from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from crawlers.errors import ConfigError
from crawlers.missions.topic import topic_file
from crawlers.missions.topic.topic_file import (
    TopicSpec,
    forget_topic,
    language_of,
    parse_topic,
    read_topic,
    store_similarities,
    topic_change,
)
from crawlers.missions.topic.topic_tables import topic_page
from crawlers.missions.topic.vectors import STRATEGIES, Weights
from tests.support.missions.topic.topic_store import add_page, begin_topic
from tests.support.stored_rows import begin, committed
from tests.support.yaml_texts import ANY_TEXT, lines

LEAST = "keywords: [unicode]\nroots: [http://a.example/]\n"


def problem(text):
    with pytest.raises(ConfigError) as caught:
        parse_topic(text, "topic.yaml")
    message = str(caught.value)
    assert all(line.startswith("topic.yaml") and len(line) < 600 for line in message.split("\n"))
    return message.replace("topic.yaml", "")


def test_documented_example_is_parsed():
    text = topic_file.__doc__.partition("```yaml\n")[2].partition("```")[0]
    assert parse_topic(text, "topic.yaml") == TopicSpec(
        keywords={"charact": 2.0, "encod": 2.0, "unicod": 3.0, "кодировк": 1.0},
        examples=("http://encodings.example/utf8.html", "examples/unicode.html"),
        roots=("http://encodings.example/", "http://text.example/docs/"),
        weights=STRATEGIES["learnt"],
        scope="sites",
        language="auto",
        budget=2000,
    )


def test_keywords_are_split_into_terms_whose_weights_add_up():
    spec = parse_topic(
        "{keywords: {text encoding of texts: 2, the encodings: 0.5, 字符编码: 1}, roots: a.example}", "t"
    )
    assert spec.keywords == {"text": 4.0, "encod": 2.5, "字符": 1.0, "符编": 1.0, "编码": 1.0}
    assert spec.roots == ("http://a.example/",), "a host without a scheme means http, a single value is a list"


def test_missing_weights_are_zero():
    assert parse_topic(LEAST + "alpha: 0.25\ngamma: 0.75", "topic.yaml").weights == Weights(0.25, 0.0, 0.75)
    assert parse_topic(LEAST + "alpha: 0.25\ndelta: 0.75", "topic.yaml").weights == Weights(0.25, 0.0, 0.0, 0.75)


def test_scope_is_a_name_or_a_list_of_domains_that_contain_the_roots():
    assert parse_topic(LEAST + "scope: all", "topic.yaml").scope == "all"
    text = "{keywords: [unicode], roots: [http://www.a.example/x, https://пример.рф:8443/], scope: %s}"
    spec = parse_topic(text % "[A.example, пример.рф, A.example]", "topic.yaml")
    assert spec.scope == "a.example,xn--e1afmkfd.xn--p1ai"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("keywords: [a", ":1: not valid YAML (did not find expected ',' or ']'); check colons"),
        ("", ": expected fields such as `keywords:`, each on its own line"),
        (LEAST + "roots: [b.example]", ":3: duplicate field roots; keep one of the two"),
        ("roots: [a.example]", ": keywords and examples are missing; give at least one word or page"),
        ("keywords: [text, ' ']", ":1: missing value; write it, or remove the line"),
        ("keywords: [text, the]", ":1: the keyword 'the' has no terms; remove it: function words, numbers"),
        ("keywords:\n  text: 1\n  1991: 2", ":3: the keyword '1991' has no terms"),
        ("keywords:\n  text: -1", ":2: the weight of 'text' is '-1', expected a number from 0.001 to 1000"),
        ("keywords: {text: [1]}", ":1: expected a single value here, not a list or mapping"),
        ("keywords: [text]", ": roots is missing; give at least one start URL"),
        ("keywords: [text]\nroots: {a: b}", ":2: roots is a mapping, expected a list; write each value after"),
        ("keywords: [text]\nroots:\n- a.example\n- ftp://b.test", ":4: 'ftp://b.test': unsupported protocol 'ftp'"),
        ("examples: [mailto://b.example]", ":1: 'mailto://b.example': unsupported protocol 'mailto'"),
        (
            LEAST + "scope: [b.example, c.example]",
            ":2: the root http://a.example/ is outside the scope (b.example,c.example); "
            "add a.example to scope, or remove the root",
        ),
        ("{keywords: [text], roots: [ba.example], scope: [a.example]}", "the root http://ba.example/ is outside"),
        (LEAST + "scope: hosts", ":3: scope is 'hosts', expected sites, all, or a list: [example.org]"),
        (LEAST + "scope: ['*.a.example']", ":3: '*.a.example' in scope is not a domain; write a domain such as"),
        (LEAST + "strategy: best", ":3: unknown strategy 'best'; choose one of: learnt anchor breadth links mixed"),
        (LEAST + "strategy: links\nalpha: 1", ":4: alpha and strategy are mutually exclusive; keep one of the two"),
        (
            LEAST + "alpha: 0.4",
            ":3: alpha=0.4, beta=0, gamma=0, delta=0 sum to 0.4, expected 1; divide each by",
        ),
        (LEAST + "gamma: -1", ":3: gamma is '-1', expected a number from 0 to 1"),
        (LEAST + "language: xx", ":3: language: unknown language 'xx'; choose one of: auto zh ar"),
        (LEAST + "budget: 0", ":3: budget is '0', expected a number of pages from 1 to 1000000000"),
        (LEAST + "budget: " + "9" * 5000, ":3: budget is '9999"),
    ],
)
def test_every_mistake_is_reported_in_one_sentence_with_the_remedy(text, sentence):
    assert sentence in problem(text)


@given(st.text(st.sampled_from("abc:-[]{}&*!|>#'\"?, \n\t%@`0.é\u2028\x07"), max_size=60))
def test_any_other_text_gives_a_config_error(text):
    with pytest.raises(ConfigError):
        parse_topic(text, "topic.yaml")


def test_file_is_read_with_or_without_a_byte_order_mark(tmp_path):
    file = tmp_path / "topic.yaml"
    for mark in (b"", b"\xef\xbb\xbf"):
        file.write_bytes(mark + LEAST.replace("\n", "\r\n").encode())
        assert read_topic(str(file)).keywords == {"unicod": 1.0}


@pytest.mark.both_stores
def test_crawl_can_be_resumed_with_another_topic_after_its_topic_is_deleted(database):
    def run(topic):
        return begin(database, mission="topic", TOPIC=topic, ORDER="topic").id

    one, two = (f'[{{"{word}": 1.0}}, [], [0.5, 0, 0, 0.5], "en"]' for word in ("one", "two"))
    crawl_id = run(one)
    with pytest.raises(ConfigError, match="topic changed"):
        run(two)
    committed(forget_topic, database, crawl_id)
    assert run(two) == crawl_id
    with pytest.raises(ConfigError, match="topic changed"):
        run(one)


def test_changed_strategy_is_named():
    mixes = ([1.0, 0, 0, 0], [0.5, 0, 0, 0.5], [0.8, 0.2, 0, 0])
    topics = [f'[{{"one": 1.0}}, [], {weights}, "en"]' for weights in mixes]
    assert topic_change(*topics[:2]) == ("the strategy is learnt", "anchor")
    assert topic_change(*topics[1:]) == ("the strategy is 0.8, 0.2, 0, 0", "learnt")


def test_language_is_that_of_the_given_topic(database):
    topic = '[{"кодировк": 1.0}, [], [0.4, 0.3, 0.3], "ru"]'
    assert language_of(database, begin(database, name="russian", TOPIC=topic).id) == "ru"
    assert language_of(database, begin(database, name="other").id) == "auto"


# The final similarities of a topic crawl, which depend only on the set of its pages


PAGES = [{"unicod": 2, "font": 1}, {"unicod": 1}, {"font": 3}, {}, {"text": 1, "tabl": 5}]


def similarities(database):
    rows = database.rows(select(topic_page.c.page_id, topic_page.c.similarity))
    return {number: similarity for number, similarity in rows}


@pytest.mark.both_stores
def test_similarities_are_cosines_with_the_document_frequencies_of_all_pages(database):
    crawl_id, (a, b) = begin_topic(database, unicod=3.0, text=4.0)
    for number, terms in enumerate(PAGES, 1):
        add_page(database, number, a if number % 2 else b, f"http://a.test/{number}", terms, similarity=0.5)
    mean = store_similarities(database, crawl_id)
    # |S| = 5; "unicod" and "font" are on two pages, "text" and "tabl" on one.
    two, one = 1 + log(5 / 2), 1 + log(5 / 1)
    topic = {"unicod": 0.6 * two, "text": 0.8 * one}
    length = sqrt(topic["unicod"] ** 2 + topic["text"] ** 2)
    wanted = {
        1: topic["unicod"] * 2 * two / (length * sqrt((2 * two) ** 2 + two**2)),
        2: topic["unicod"] / length,
        3: 0.0,
        4: 0.0,
        5: topic["text"] * one / (length * sqrt(one**2 + (5 * one) ** 2)),
    }
    assert similarities(database) == pytest.approx(wanted, abs=1e-12)
    assert mean == pytest.approx(sum(wanted.values()) / 5, abs=1e-12)


def test_similarities_do_not_depend_on_the_order_of_the_pages(database, monkeypatch):
    monkeypatch.setattr(topic_file, "PAGES_AT_ONCE", 2)
    found = []
    for crawl in range(3):
        crawl_id, (a, _) = begin_topic(database, str(crawl), unicod=3.0, text=4.0)
        order = random.Random(crawl).sample(range(len(PAGES)), len(PAGES))
        for place, number in enumerate(order):
            add_page(database, 100 * crawl + place + 1, a, f"http://a.test/{number}", PAGES[number])
        assert store_similarities(database, crawl_id)
        known = similarities(database)
        found.append({number: known[100 * crawl + place + 1] for place, number in enumerate(order)})
    assert found == found[:1] * 3


@pytest.mark.both_stores
def test_pages_of_other_crawls_do_not_count_and_are_unchanged(database):
    _, (a, _) = begin_topic(database, "other", text=1.0)
    add_page(database, 1, a, "http://a.test/", {"text": 1}, similarity=0.25)
    crawl_id, (a, _) = begin_topic(database, "mine", text=1.0)
    add_page(database, 2, a, "http://a.test/", {"text": 1, "font": 1}, similarity=0.25)
    assert store_similarities(database, crawl_id)
    assert similarities(database) == {1: 0.25, 2: pytest.approx(1 / sqrt(2), abs=1e-12)}


def test_crawl_without_a_topic_is_unchanged(database):
    crawl_id, (a, _) = begin_topic(database)
    add_page(database, 1, a, "http://a.test/")
    assert store_similarities(database, crawl_id) is None


@given(ANY_TEXT.map(lambda text: f"roots: a.example\nkeywords: {text}") | ANY_TEXT)
def test_any_text_is_a_topic_or_has_a_problem_with_its_line(text):
    try:
        parse_topic(text, "t.yaml")
    except ConfigError as error:
        message = str(error)
        if not message.startswith(("t.yaml: expected fields", "t.yaml: keywords and", "t.yaml: roots is missing")):
            origin, line, _ = message.split(":", 2)
            assert origin == "t.yaml"
            assert 1 <= int(line) <= lines(text)
