"""The topic of a crawl is determined once; later runs find it in the store."""

import asyncio

import pytest

from crawlers.bandits.turns import RoundRobin
from crawlers.crawl.spec import response_reader
from crawlers.errors import ConfigError
from crawlers.inputs.setting_readers import check_order
from crawlers.missions.topic import TOPIC
from crawlers.missions.topic.topic_file import parse_topic, terms_of
from crawlers.missions.topic.topic_run import TopicRun
from crawlers.missions.topic.vectors import Terms
from crawlers.pages.response import WebResponse
from crawlers.urls.addresses import SiteAddresses
from tests.support.opened_crawl import OpenedCrawl, quick_settings

EXAMPLE = "http://a.test/example"


def opened(url, *keywords):
    """Open a crawl about a topic whose example is still to be downloaded; return the crawl and the run."""
    text = f"{{roots: [http://a.test], examples: [{EXAMPLE}], language: en, keywords: [{', '.join(keywords)}]}}"
    spec = parse_topic(text, "topic.yaml")
    reader = response_reader(quick_settings(url), SiteAddresses(), None)
    mission = {"named": [EXAMPLE], "reader": reader, "recorded": {"TOPIC": spec.summary}}
    crawl = OpenedCrawl(url, lambda session: TopicRun(session, spec, Terms("en"), []), mission)
    return crawl, crawl.crawl.mission


def begin(run, status=200):
    async def fetch(url):
        return WebResponse(url, status, b"Fonts", "text/html")

    asyncio.run(run.begin(fetch))


def test_topic_is_determined_by_an_example_and_found_again_by_later_runs(sqlite_url):
    crawl, run = opened(sqlite_url, "unicode")
    assert crawl.crawl.leasing.next(crawl.now) is None, "not ready"
    begin(run)
    crawl.lease()
    crawl.crawl.session.writer.flush()
    assert set(terms_of(crawl.crawl.session.database, crawl.crawl.session.row.id)) == {"unicod", "font"}
    crawl.kill()
    assert opened(sqlite_url, "unicode")[1].is_ready


def test_crawl_whose_example_is_missing_may_have_another_topic(sqlite_url):
    crawl, run = opened(sqlite_url, "unicode")
    begin(run, status=404)
    assert (crawl.stopped, run.is_ready) == (["no_topic"], False)
    crawl.close(reason="no_topic")
    crawl, run = opened(sqlite_url, "text")
    begin(run)
    assert crawl.crawl.session.row.id == 1
    assert run.is_ready


def test_mission_that_has_another_way_names_it():
    with pytest.raises(ConfigError, match="which topic does not have; write strategy: learnt in its file"):
        check_order("learnt", "topic", {TOPIC}, RoundRobin())
