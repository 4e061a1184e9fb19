"""What stored crawls teach of links."""

import math

import pytest

from crawlers.lab.learn import LinkExamples, names_of
from crawlers.ranking.link_features import feature_id
from tests.support.stored_links import LinkedPage, store_harvest

A, B = "http://a.test", "http://b.test"
NEWS = LinkedPage("/misc/news.html", 7.0, "All the news")


def number(kind, text):
    return kind, feature_id(kind, "", text)


def names(database, examples, crawl_id):
    """The examples of each site with names."""
    wanted = {name for site in examples.sites() for found, _ in site for name in found}
    known = names_of(database, crawl_id, wanted)
    return [[({known.get(name) for name in found}, reward) for found, reward in site] for site in examples.sites()]


def test_links_have_their_words_level_and_length_but_home_pages_have_none(database):
    examples = LinkExamples(10)
    crawl_id = store_harvest(database, {A: [NEWS]})
    assert examples.add(database, crawl_id)
    assert examples.pages == 1
    [(found, reward)] = examples.sites()[0]
    words = [("anchor", "all"), ("anchor", "news"), ("url", "news"), ("url", "misc")]
    expected = {number(*one) for one in (*words, ("anchor length", "2 to 3 words"), ("level", "1"))}
    assert (set(found), reward) == (expected, 7.0)


@pytest.mark.parametrize("order", ["bfs", "topic"])
def test_crawl_in_another_order_teaches_words_of_urls_and_levels(database, order):
    examples = LinkExamples(10)
    crawl_id = store_harvest(database, {A: [NEWS]}, order=order)
    assert not examples.add(database, crawl_id)
    assert set(examples.sites()[0][0][0]) == {number("url", "news"), number("url", "misc"), number("level", "1")}
    assert names(database, examples, crawl_id) == [[({"news", "misc", "1"}, 7.0)]]


def test_pages_of_a_site_are_a_random_sample_and_always_the_same(database):
    web = {A: [LinkedPage(f"/p/{n}", float(n)) for n in range(300)], B: [NEWS]}
    crawl_id = store_harvest(database, web)

    def rewards(most):
        examples = LinkExamples(most)
        examples.add(database, crawl_id)
        assert examples.pages == 301
        return [[reward for _, reward in site] for site in examples.sites()]

    chosen, other = rewards(40)
    assert (len(chosen), len(set(chosen)), other) == (40, 40, [7.0])
    assert rewards(40) == [chosen, other]
    assert abs(sum(chosen) / 40 - 149.5) < 4 * 86.6 / math.sqrt(40)


@pytest.mark.both_stores
def test_names_are_words_of_titles_and_urls(database):
    crawl_id = store_harvest(database, {A: [LinkedPage("/MiscThings/%D0%B4%D0%BE%D0%BC", 1.0, "Release_notes 5")]})
    texts = [("anchor", "relea"), ("url", "notes"), ("url", "misc"), ("anchor", "дом"), ("level", "8")]
    wanted = {number(*one) for one in (*texts, ("anchor", "elsew"), ("anchor length", "1 word"))}
    found = names_of(database, crawl_id, wanted)
    assert found == {number(*one): one[1] for one in (*texts, ("anchor length", "1 word"))}
