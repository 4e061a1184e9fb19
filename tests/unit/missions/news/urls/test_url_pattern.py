"""Leaves of the tree become expressions that match exactly their URLs; wrong labels give no rules."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.news.url_rules import SCHEMAS, UNSEEN, labelled, learnt, quality
from crawlers.missions.news.urls import url_pattern
from crawlers.missions.news.urls.url_pattern import (
    ARTICLE,
    OTHER_PAGE,
    UNBOUND,
    UrlPattern,
    closed,
    leaves,
    regex_of,
    wilson_low,
)
from crawlers.missions.news.urls.url_tokens import KINDS, OTHER, Shape, kind_of, tokens_of
from crawlers.urls.url_expressions import UrlExpressions, check_expression

TWO = Shape(2, "", None)


def only(*texts):
    return UNBOUND.narrowed("text", frozenset(texts), True)


def but(*texts):
    return UNBOUND.narrowed("text", frozenset(texts), False)


def kinds(*names):
    return UNBOUND.narrowed("kind", frozenset(names), True)


def no_kinds(*names):
    return UNBOUND.narrowed("kind", frozenset(names), False)


@pytest.mark.parametrize(
    ("pattern", "regex"),
    [
        (UrlPattern(Shape(0, "", None)), "/"),
        (UrlPattern(TWO), "/[^/?]+/[^/?.]+/?"),
        (UrlPattern(TWO, True, {0: only("news", "sport")}), "/(?:news|sport)/[^/?.]+/"),
        (UrlPattern(TWO, False, {0: but("tag")}), "/[^/?]+/[^/?.]+ except /tag/[^/?.]+"),
        (UrlPattern(Shape(1, ".html", None), False, {0: kinds("day", "year", "date8", "number")}), r"/[0-9]+\.html"),
        (UrlPattern(Shape(1, ".php", ("id=", "")), False, {0: only("story")}), r"/story\.php\?id=[^&]*&[^&=]*"),
        (UrlPattern(Shape(1, "", ("id=",)), None, {"id=": kinds("word")}), r"/[^/?.]+/?\?id=[A-Za-z]+"),
        (
            UrlPattern(TWO, None, {0: kinds("number")}),
            "/[0-9]{3,}/[^/?.]+/? except /(?:(?:19|20)[0-9]{2}|(?:19|20)[0-9]{6})/[^/?.]+/?",
        ),
        (
            UrlPattern(Shape(1, "", ("id=",)), None, {"id=": no_kinds("empty")}),
            r"/[^/?.]+/?\?id=[^&]* except /[^/?.]+/?\?id=",
        ),
    ],
)
def test_expressions_of_patterns_are_short(pattern, regex):
    assert regex_of(pattern) == regex


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.frozensets(st.sampled_from([*KINDS, OTHER]), min_size=1),
    st.sampled_from([0, 1, "id="]),
    st.lists(st.text("019-_.,aé", max_size=9), min_size=20, max_size=20),
)
def test_expression_of_any_set_of_kinds_matches_texts_of_these_kinds_and_no_others(names, place, texts):
    expressions = UrlExpressions([regex_of(UrlPattern(Shape(2, ".x", ("id=",)), False, {place: kinds(*names)}))])
    for text in [*texts, "1999", "19990101", "2024-05", "cup-12345", "12345-cup", "a-1", "--", "who-won-it"]:
        if text or place == "id=":
            url = {0: f"/{text}/b.x?id=5", 1: f"/a/{text}.x?id=5", "id=": f"/a/b.x?id={text}"}[place]
            assert bool(expressions.matching(url)) == (kind_of(text) in names)


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


def samples_of(labels):
    return url_pattern.samples_of(certain(labels))


def learn_patterns(labels):
    return url_pattern.learn_patterns(certain(labels))


def certain(labels):
    return {url: ARTICLE if is_article else OTHER_PAGE for url, is_article in labels.items()}


def check_that_leaves_are_their_expressions(labels):
    """Check that each URL is matched by the expression of its leaf and by no other."""
    urls = [url for url in sorted(labels) if tokens_of(url)]
    samples = samples_of(labels)
    url_of = {id(sample): url for url, sample in zip(urls, samples, strict=True)}
    found = []
    for leaf in leaves(samples):
        for pattern, part in closed(leaf):
            mine = {url_of[id(sample)] for sample in part}
            expression = UrlExpressions([regex_of(pattern)])
            assert {url for url in labels if expression.matching(url)} == mine
            found += mine
    assert sorted(found) == urls


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(targets, unique=True, max_size=80), st.randoms(use_true_random=False), st.booleans())
def test_expression_matches_exactly_the_urls_of_its_leaf(urls, rng, is_wild):
    word = rng.choice(["tag", "-", "id=", "html", "2024", "5"])
    check_that_leaves_are_their_expressions({url: rng.random() < 0.5 if is_wild else word in url for url in urls})


@pytest.mark.parametrize("schema", SCHEMAS | UNSEEN)
def test_expression_matches_exactly_the_urls_of_its_leaf_on_every_kind_of_host(schema):
    check_that_leaves_are_their_expressions(labelled(schema, 40, 120, 0.1, random.Random(schema)))


@pytest.mark.parametrize(
    ("schemas", "labels", "least", "least_of_one"),
    [(UNSEEN, (10, 30), (0.75, 0.8), 0.0), (SCHEMAS, (100, 300), (0.97, 0.97), 0.85)],
    ids=["few labels of hosts that were set aside", "many labels"],
)
def test_precision_and_recall_are_high_with_a_fifth_of_the_labels_wrong(schemas, labels, least, least_of_one):
    found = []
    for schema in schemas:
        rng = random.Random(schema)
        known = labelled(schema, *labels, 0.2, rng)
        found.append(quality(learnt(known), schema, known, rng))
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


def test_random_labels_give_hardly_any_rule():
    rng = random.Random(1)
    urls = labelled("section, slug", 100, 300, 0.0, rng)
    rules = learn_patterns({url: rng.random() < 0.25 for url in urls})
    assert sum(rule.support for rule in rules) <= 0.05 * len(urls)


def test_rule_is_readable():
    labels = {f"/2024/0{n % 9 + 1}/1{n % 10}/title-of-number-{n}/": True for n in range(20)}
    labels |= {f"/tag/two-words{n}/": False for n in range(30)} | {f"/2024/0{n}/1{n}/": False for n in range(1, 9)}
    (rule,) = learn_patterns(labels)
    assert rule.regex == "/[0-9]+/[0-9]+/[0-9]+/[^/?&=._-]*[-_][^/?&=.]*/?"
    assert (rule.support, rule.precision_low) == (20, wilson_low(20, 20))


@pytest.mark.parametrize(("pages", "rules"), [(3, 0), (4, 1)])
def test_rule_requires_a_significant_number_of_pages(pages, rules):
    labels = {f"/{kind}/{n}": kind == "news" for kind in ("news", "tag") for n in range(pages)}
    assert len(learn_patterns(labels)) == rules


def test_no_path_of_the_tree_is_longer_than_twelve_questions():
    labels = {f"/?p{group}={n}": group % 2 == 0 for group in range(30) for n in range(20)}
    assert max(len(leaf.path) for leaf in leaves(samples_of(labels))) == 12
