"""Documents are items of their own; everything else passes as it is."""

import pytest
from scrapy.crawler import Crawler
from scrapy.spiders import Spider
from scrapy.statscollectors import StatsCollector

from crawlers.items import Page, State
from crawlers.missions.news.edge.document_items import Document, DocumentPipeline
from crawlers.missions.news.news_items import Article, News

ARTICLE = Article(
    "Title",
    "Text",
    None,
    "2001-09-09",
    ("Ada",),
    "sport",
    "en",
    "http://a.example/c",
    "",
    "json-ld",
    description="In short",
    keywords=("a", "b"),
    modified="2001-09-10",
    is_free=False,
)


@pytest.fixture
def pipeline():
    made = Crawler(Spider)
    made.stats = StatsCollector(made)
    return DocumentPipeline.from_crawler(made)


def page(outcome, version=1, stored_at=1e9):
    news = News(outcome=outcome, article=ARTICLE, version=version, stored_at=stored_at)
    return Page(7, "http://a.example/news?id=1", 1, State.DONE, facts=news)


def test_page_that_became_a_document_is_one(pipeline):
    assert pipeline.process_item(page("new")) == Document(
        url="http://a.example/news?id=1",
        canonical_url="http://a.example/c",
        title="Title",
        text="Text",
        published="2001-09-09",
        authors=("Ada",),
        section="sport",
        language="en",
        image="",
        site="http://a.example",
        stored_at="2001-09-09T01:46:40+00:00",
        version=1,
        extractor="json-ld",
        description="In short",
        keywords=("a", "b"),
        modified="2001-09-10",
        is_free=False,
    )


@pytest.mark.parametrize("item", [page("duplicate"), page(""), Page(1, "http://a.example/", 0, State.DONE), {"a": 1}])
def test_other_items_pass(pipeline, item):
    assert pipeline.process_item(item) is item


def test_what_came_of_pages_is_counted(pipeline):
    for outcome in ("new", "new", "changed", "duplicate", ""):
        pipeline.process_item(page(outcome))
    assert pipeline._stats.get_stats() == {"news/documents": 2, "news/changed": 1, "news/duplicates": 1}
