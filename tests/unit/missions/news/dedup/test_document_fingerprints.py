"""Keys of documents: which URLs and texts are the same document within a domain."""

from collections import Counter

import pytest

from crawlers.missions.news.dedup.document_fingerprints import (
    document_fingerprint,
    url_key128,
)
from crawlers.missions.news.news_items import Article

URL = "https://www.example.org/news/17"


def article(text="text", title="Title", canonical=""):
    return Article(title, text, None, "", (), "", "en", canonical, "", "rule")


def key(url):
    return url_key128("example.org", url)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/news/17",
        "https://www.example.org:443/news/17/#comments",
        "https://www.example.org//news/./17?",
        "https://www.example.org/news/17?utm_source=rss&utm_medium=feed&fbclid=1&gclid=2&yclid=3&ysclid=4",
        "https://www.example.org/news/17?from=rss",
        "https://www.example.org/news/17?ref=twitter&from=RSS&source=telegram",
        "https://www.example.org/news/17?mtm_campaign=x&_ga=1.2&wt_zmc=a.b",
    ],
)
def test_variants_and_campaign_parameters_give_one_key(url):
    assert key(url) == key(URL)


@pytest.mark.parametrize(
    "url",
    [
        "https://www.example.org/news/18",
        "https://www.example.org/News/17",
        "https://www.example.org/news/17?from=20",
        "https://www.example.org/news/17?from=rss2",
        "https://www.example.org/news/17?xref=rss",
        "https://www.example.org/news/17?print=1",
        "https://sport.example.org/news/17",
    ],
)
def test_other_urls_give_other_keys(url):
    assert key(url) != key(URL)


def test_keys_are_two_signed_halves_that_fit_a_database():
    halves = [half for number in range(200) for half in key(f"{URL}{number}")]
    assert all(-(1 << 63) <= half < 1 << 63 for half in halves)
    assert len(set(halves)) == 400
    assert Counter(half < 0 for half in halves)[True] > 100


def test_fingerprint_depends_on_the_words_only():
    one, other = (document_fingerprint(URL, article(text)) for text in ("Hello, World", "hello\nworld!"))
    assert one == other
    assert one.text_hash == other.text_hash
    assert len(one.text_hash) == 32
    assert one.text_hash != document_fingerprint(URL, article("Hello, World 2")).text_hash


@pytest.mark.parametrize(
    "canonical",
    [
        "",
        "https://www.example.org/",
        "https://m.example.org",
        "https://other.org/news/17",
        "javascript:void(0)",
        f"{URL}?utm_source=x",
    ],
)
def test_uninformative_canonical_url_is_ignored(canonical):
    assert document_fingerprint(URL, article(canonical=canonical)).canonical is None


def test_canonical_url_within_the_domain_is_used():
    found = document_fingerprint("https://m.example.org/a?id=17", article(canonical=URL))
    assert found.canonical == key(URL) == document_fingerprint(URL, article()).url
