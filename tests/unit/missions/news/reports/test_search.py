"""Documents are found by their words, with any input."""

import pytest

from crawlers.missions.news.reports.search import search, sites_named
from tests.support.missions.news.news_store import OTHER, SITE, NewsStore

pytestmark = pytest.mark.both_stores

TEXTS = {
    "/ferry": ("The ferry is late", "The old ferry waits in the harbour. Nobody knows why."),
    "/harbour": ("News of the harbour", "A ship came in."),
    "/zürich": ("Zürich", "Ein Gespräch über das Wetter, auf 100 % deutsch."),
    "/match": ("A match", "Nothing but sport " + "and sport " * 50 + "until the ferry left."),
}


@pytest.fixture
def crawl(database):
    crawl = NewsStore(database)
    for path, (title, text) in TEXTS.items():
        crawl.document(path, 1e9, title=title, text=text, published="2001-09-09T03:46:40+02:00")
    return crawl


def paths(crawl, words, most=10, site=None, crawl_id=None):
    site_ids = None if site is None else sites_named(crawl.database, site)
    found = search(crawl.database, words, most, site_ids=site_ids, crawl_id=crawl_id)
    return [one.url.removeprefix(SITE) for one in found]


def test_words_of_titles_weigh_more(crawl):
    assert paths(crawl, "harbour") == ["/harbour", "/ferry"]
    assert paths(crawl, "ferry") == ["/ferry", "/match"]
    assert paths(crawl, "ferry", most=1) == ["/ferry"]


def test_phrases_and_alternatives_are_understood_and_snippets_show_the_words(crawl):
    assert paths(crawl, '"ferry waits"') == ["/ferry"]
    assert paths(crawl, '"waits ferry"') == []
    assert sorted(paths(crawl, "ship OR sport")) == ["/harbour", "/match"]
    (found,) = search(crawl.database, "ferry left", 10)
    assert "[ferry] [left]" in found.snippet
    assert len(found.snippet) < 400
    assert (found.title, found.published, found.stored_at) == ("A match", "2001-09-09T03:46:40+02:00", 1e9)


def test_no_input_is_an_error(crawl):
    strange = ['"', "AND", "ferry AND (", "C++", "title:", "nothing:ferry", "*", "NEAR(", "^ferry", "", "' OR 1=1 --"]
    strange += ["\0", "ferry'; DROP TABLE page", "%_\\", "{x}", "\ud800 ferry", "!", "&", "<->", "ferry:*", ":words"]
    for words in strange:
        assert isinstance(search(crawl.database, words, 5), list)


def test_search_can_be_limited_to_a_site_or_crawl(crawl):
    other = NewsStore(crawl.database, "other")
    other.document("/ferry", 1e9, site=OTHER, title="Another ferry")
    assert len(paths(crawl, "ferry")) == 3
    assert paths(crawl, "ferry", site=OTHER) == [f"{OTHER}/ferry"]
    assert paths(crawl, "ferry", site=OTHER.removeprefix("http://")) == [f"{OTHER}/ferry"]
    assert paths(crawl, "ferry", crawl_id=crawl.id) == ["/ferry", "/match"]
    assert paths(crawl, "ferry", site="http://nowhere.example") == []


def test_domain_includes_all_its_sites(crawl):
    other = NewsStore(crawl.database, "other", sites=("http://www.one.example", "http://sport.one.example:81"))
    other.document("/a", 1e9, site="http://www.one.example", title="A ferry")
    other.document("/b", 1e9, site="http://sport.one.example:81", title="A ferry")
    assert len(paths(crawl, "ferry", site="One.Example")) == 4
    assert len(paths(crawl, "ferry", site="sport.one.example")) == 1
    assert len(paths(crawl, "ferry", site="www.one.example")) == 1


def test_new_text_is_found_and_replaced_text_is_not(crawl):
    number = crawl.document("/new", 2e9, title="Fog", text="A fog came.")
    crawl.document("/new", 3e9, again=number, title="Sun", text="The sun came.")
    assert paths(crawl, "fog") == []
    assert paths(crawl, "sun") == ["/new"]
