"""Which articles become documents, and which pages are but other ways to one."""

from dataclasses import replace
from itertools import count

import pytest
from sqlalchemy import insert

from crawlers.frontier.values import Lease, PreviousVisit
from crawlers.items import Page, State
from crawlers.missions.news.articles import ArticlePolicy, earlier_documents
from crawlers.missions.news.dedup.document_copies import Duplicates
from crawlers.missions.news.dedup.document_fingerprints import document_fingerprint, url_key128
from crawlers.missions.news.news_items import Article, News
from crawlers.missions.news.stored.news_tables import DocumentKeyRow, DocumentRow, feed_item
from crawlers.missions.news.urls.rule_learner import UrlRule
from crawlers.missions.news.urls.url_classifier import UrlClassifier
from crawlers.reasons import Reason
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.keys import content_hash
from crawlers.urls.resolution import resolve
from tests.support.missions.news.news_store import NewsStore
from tests.support.stored_rows import NothingPending, execute

SITE, NOW = "http://one.test", 1e9
TEXT = " ".join(f"word{n}" for n in range(80))
STORY = Article("Title", TEXT, None, "", (), "", "en", canonical_url="", image="", extractor="rule")
RULES = UrlClassifier("manual")
RULES.replace("one.test", [UrlRule(r"/news/.*", 1.0, "hand")])


class Desk:
    """A desk to which pages come one after the other, numbered 1, 2, 3 …; nothing is committed yet."""

    def __init__(self, database, *, earlier=None):
        duplicates = Duplicates(database, NothingPending())
        self.policy = ArticlePolicy(RULES, duplicates, database, {"one.test": "de"}, self.page_at, earlier)
        self.pages = 0
        self.found = {}
        self.changes = ChangeSet()  # of the latest page

    def page_at(self, url, but):
        """Return the number of a page that was found; all of these are articles."""
        return self.found.get(resolve(SITE, url).key)

    def page(self, url, canonical=""):
        self.pages += 1
        url = resolve(SITE, url).url
        self.found[resolve(SITE, url).key] = self.pages
        return Page(self.pages, url, 1, State.DONE, canonical=canonical, content_hash=content_hash(url.encode()))

    def judge(self, url, canonical="", article=STORY):
        """What comes of a page with that *article*."""
        page = self.page(url, canonical)
        if canonical.startswith("/"):
            article = replace(article, canonical_url=resolve(SITE, canonical).url)
        news = News(article=article, fingerprint=document_fingerprint(page.url, article))
        self.changes = ChangeSet()
        lease = Lease(page.id, 1, page.id, page.url, 1, 0, 0, None, NOW)
        return self.policy.judge(lease, replace(page, facts=news), news, self.changes, NOW)

    def languages(self):
        return [row.language for row in self.changes[DocumentRow]]


@pytest.fixture
def policy(database):
    return Desk(database)


@pytest.mark.parametrize(
    ("announced", "published"),
    [(1714753148.0, "2024-05-03T16:19:08+00:00"), (1714694400.0, "2024-05-03"), (None, None)],
)
def test_article_without_a_date_has_that_of_its_feeds(policy, database, announced, published):
    items = [(7, 1, announced), (8, 1, announced and announced + 86_400), (7, 2, 1.0)]
    rows = [{"feed_id": feed, "key": key, "published_at": at, "found_at": NOW} for feed, key, at in items]
    execute(database, insert(feed_item), rows)
    found = policy.judge("/news/1")
    (row,) = policy.changes[DocumentRow]
    assert (row.published_at, row.published) == (announced, published)
    assert found.article.published_at == announced
    own = replace(STORY, text="Another text", published_at=5.0, published="1970-01-01")
    policy.judge("/news/2", article=own)
    assert [row.published_at for row in policy.changes[DocumentRow]] == [5.0]


def test_article_that_names_no_language_has_that_of_its_source(policy):
    policy.judge("/news/1", article=replace(STORY, language=""))
    assert policy.languages() == ["de"]
    policy.judge("/news/2", article=replace(STORY, text="Another text", language="fr"))
    assert policy.languages() == ["fr"]
    policy.judge("http://two.test/news/1", article=replace(STORY, language=""))
    assert policy.languages() == [None]


@pytest.mark.parametrize(
    ("url", "canonical", "reason"),
    [
        ("/print/1", "", Reason.SAME_TEXT),
        ("/print/1", "/news/1-story", Reason.SAME_CANONICAL),
        ("/print/1", "http://[::1", Reason.SAME_TEXT),  # nonsense says nothing
        ("/news/1-story?from=rss", "", Reason.SAME_URL),
    ],
)
def test_copy_is_no_document(policy, url, canonical, reason):
    policy.judge("/news/1-story")
    news = policy.judge(url, canonical)
    assert (news.outcome, news.reason) == ("duplicate", f"{reason} 1")
    assert policy.changes[DocumentRow] == []


def test_document_of_an_earlier_crawl_is_not_requested(database):
    """Only URLs that a rule classifies as articles are looked up, and pages that are fetched again are not."""
    assert earlier_documents(database, 1) is None
    before = NewsStore(database, sites=[SITE])
    page = before.document("/news/1-story", NOW, site=SITE)
    before.write(DocumentKeyRow(*url_key128("one.test", f"{SITE}/news/1-story"), page))
    assert earlier_documents(database, before.id) is None, "the crawl is continued"
    later, numbers = Desk(database, earlier=earlier_documents(database, before.id + 1)).policy, count(5)

    def reason(path, **more):
        lease = replace(Lease(next(numbers), 1, 5, SITE + path, 1, 0, 0, None, NOW), **more)
        if (query := later.reason_to_skip(lease)) is not None:
            query()()
        return later.reason_to_skip(lease)

    assert reason("/news/1-story?from=rss") == f"stored_earlier {page}"
    assert (reason("/news/3"), reason("/x")) == (None, None)
    assert reason("/news/1-story", previous=PreviousVisit({}, State.DONE, 200, None, NOW, None, None)) is None


@pytest.mark.parametrize("form", ["?print=1", "/print", "/amp/"])
def test_other_form_of_a_page_that_was_found_is_not_fetched(policy, form):
    policy.judge("/news/1-story")
    assert policy.policy.reason_against(resolve(SITE, f"/news/1-story{form}")) == "same_url 1"
    assert policy.policy.reason_against(resolve(SITE, f"/news/2{form}")) is None
