"""Patterns become expressions that match exactly their URLs; wrong labels give no rules."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.news.url_rules import SCHEMAS, UNSEEN, labelled, quality
from crawlers.missions.news.urls.url_pattern import (
    Pattern,
    Question,
    Sample,
    learn_patterns,
    patterns,
    regex_of,
    wilson_low,
)
from crawlers.missions.news.urls.url_tokens import Shape, Token, kind_of, tokens_of
from crawlers.urls.url_expressions import UrlExpressions, check_expression

TWO = Shape(2, "", None)


def text(position, value):
    return Question(position, True, value)


def kind(position, value):
    return Question(position, False, value)


@pytest.mark.parametrize(
    ("shape", "answers", "tokens", "regex"),
    [
        (Shape(0, "", None), [], [], "/"),
        (TWO, [], ["news", "cup"], "/[A-Za-z]+/[A-Za-z]+/?"),
        (TWO, [(text(0, "news"), True)], ["news", "cup"], "/news/[A-Za-z]+/?"),
        (TWO, [(text(0, "tag"), False)], ["news", "cup"], "/[A-Za-z]+/[A-Za-z]+/? except /tag/[^/?.]+/?"),
        (Shape(1, ".html", None), [(kind(0, "word"), False)], ["2024"], r"/(?:19|20)[0-9]{2}\.html/?"),
        (Shape(1, ".x", ("id=", "")), [(text(0, "story"), True)], ["story", "", ""], r"/story\.x/?\?id=&"),
        (Shape(1, "", ("id=",)), [(kind(1, "word"), True)], ["x", "y"], r"/[A-Za-z]+/?\?id=[A-Za-z]+"),
        (
            TWO,
            [(kind(0, "number"), True)],
            ["123456", "cup"],
            "/[0-9]{3,}/[A-Za-z]+/? except /(?:(?:19|20)[0-9]{6}|(?:19|20)[0-9]{2})/[^/?.]+/?",
        ),
        (TWO, [(kind(0, "other"), True)], ["v1.2", "cup"], "/[^/?]*[.=&][^/?]*/[A-Za-z]+/?"),
    ],
)  # fmt: skip
def test_expressions_of_patterns_are_short(shape, answers, tokens, regex):
    sample = Sample([Token(one, kind_of(one)) for one in tokens], True)
    assert regex_of(shape, Pattern(tuple(answers), [sample])) == regex


segments = st.sampled_from(
    ["news", "tag", "print", "2024", "05", "20240501", "2024-05-01", "cup-final", "who-won-the-cup", "cup-123456",
     "98765", "a1b2", "%D0%BF", "%D0%BF-%D1%80-%D0%BE", "v1.2", "a=b", "x.y.html",
     "index.html", "story.php", "(a|b)*", "--", "article12345",
     "article_0b5e7f11-77aa-4bcd-8e00-0123456789ab", "video_0b5e7f11-77aa-4bcd-8e00-012345678912",
     "article54321", "gallery12345", "id_1234", "id_123", "article2024.html"]
)  # fmt: skip
queries = st.lists(
    st.sampled_from(["id=5", "id=123456", "id=", "print", "print=1", "q=a/b", "q=cup-final", "a=b=c", "7", "id=7?"]),
    max_size=3,
).map("&".join)  # fmt: skip
targets = st.builds(
    lambda parts, slash, mark, query: f"/{'/'.join(parts)}{slash if parts else ''}{mark and '?' + query}",
    st.lists(segments, max_size=4),
    st.sampled_from(["", "/", "//"]),
    st.booleans().map(lambda has: "?" * has),
    queries,
)


def check_that_patterns_are_their_expressions(labels):
    """Check that each URL is matched by the expression of its pattern and by no other."""
    known = sorted((found for url in labels if (found := tokens_of(url))), key=repr)
    matched = []
    for shape, pattern in patterns(labels):
        expression = UrlExpressions([regex_of(shape, pattern)])
        mine = [found for url in labels if expression.matching(url) and (found := tokens_of(url))]
        assert {(shape, tokens) for tokens, _ in pattern.samples}.issuperset(mine)
        matched += mine
    assert sorted(matched, key=repr) == known


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(targets, unique=True, max_size=80), st.randoms(use_true_random=False), st.booleans())
def test_expression_matches_exactly_the_urls_of_its_pattern(urls, rng, is_wild):
    word = rng.choice(["tag", "-", "id=", "html", "2024", "5"])
    check_that_patterns_are_their_expressions({url: rng.random() < 0.5 if is_wild else word in url for url in urls})


@pytest.mark.parametrize("schema", SCHEMAS | UNSEEN)
def test_expression_matches_exactly_the_urls_of_its_pattern_on_every_kind_of_host(schema):
    check_that_patterns_are_their_expressions(labelled(schema, 40, 120, 0.1, random.Random(schema)))


@pytest.mark.parametrize(
    ("schemas", "labels", "least", "least_of_one"),
    [(UNSEEN, (10, 30), (0.75, 0.8), 0.0), (SCHEMAS, (100, 300), (0.97, 0.97), 0.75)],
    ids=["few labels of hosts that were set aside", "many labels"],
)
def test_precision_and_recall_are_high_with_a_fifth_of_the_labels_wrong(schemas, labels, least, least_of_one):
    found = []
    for schema in schemas:
        rng = random.Random(schema)
        known = labelled(schema, *labels, 0.2, rng)
        found.append(quality(schema, known, rng))
    for values, mean in zip(zip(*found, strict=True), least, strict=True):
        assert sum(values) / len(found) >= mean
        assert min(values) >= least_of_one


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(targets | st.text(max_size=20).map("/{}".format), unique=True, max_size=80),
    st.randoms(use_true_random=False),
)
def test_expressions_are_valid_in_re2(urls, rng):
    # For any text in URLs; `test_expression_matches_exactly…` tests the matches.
    for rule in learn_patterns({url: rng.random() < 0.7 for url in urls}):
        check_expression(rule.regex)


@pytest.mark.parametrize(
    ("number", "regex"), [(5, r"/story\.php/?\?id=[0-9]{3,}"), (4, r"/[A-Za-z]+\.php/?\?id=[0-9]{3,}")]
)
def test_text_that_all_urls_share_is_part_of_the_rule(number, regex):
    (rule,) = learn_patterns({f"/story.php?id={7000 + one}": True for one in range(number)})
    assert rule.regex == regex


def test_random_labels_give_hardly_any_rule():
    rng = random.Random(1)
    urls = labelled("section, slug", 100, 300, 0.0, rng)
    rules = learn_patterns({url: rng.random() < 0.25 for url in urls})
    assert sum(rule.support for rule in rules) <= 0.05 * len(urls)


def test_rule_is_readable():
    labels = {f"/2024/0{n % 9 + 1}/1{n % 10}/title-of-number-{n}/": True for n in range(20)}
    labels |= {f"/tag/two-words{n}/": False for n in range(30)} | {f"/2024/0{n}/1{n}/": False for n in range(1, 9)}
    (rule,) = learn_patterns(labels)
    assert rule.regex == "/(?:19|20)[0-9]{2}/[0-9]{1,2}/[0-9]{1,2}/[^/?&=._-]*[-_][^/?&=._-]*[-_][^/?&=.]*/?"
    assert (rule.support, rule.precision_low) == (20, wilson_low(20, 20))


@pytest.mark.parametrize(("pages", "rules"), [(2, 0), (3, 1)])
def test_rule_requires_a_significant_number_of_pages(pages, rules):
    labels = {f"/{kind}/{n}": kind == "news" for kind in ("news", "tag") for n in range(pages)}
    assert len(learn_patterns(labels)) == rules


def test_no_rule_answers_more_than_twelve_questions():
    labels = {f"/p{group}?{group}={n}": group % 2 == 0 for group in range(30) for n in range(20)}
    labels |= {f"/p{group}/{n}": group % 2 == 0 for group in range(300) for n in range(4)}
    assert max(len(pattern.answers) for _, pattern in patterns(labels)) <= 12
