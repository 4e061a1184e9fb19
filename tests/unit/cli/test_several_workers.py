"""Which crawls can have several workers on one machine."""

from __future__ import annotations

from argparse import Namespace

import pytest
from scrapy import Spider
from scrapy.settings import Settings

from crawlers.cli.several_workers import check_workers
from crawlers.errors import ConfigError
from crawlers.spiders.broad import BroadSpider
from crawlers.spiders.extlinks import ExtLinksSpider
from crawlers.spiders.news import NewsSpider
from crawlers.spiders.sitegraph import SiteGraphSpider
from crawlers.spiders.topic import TopicSpider

OPTIONS = Namespace(profile=None, spargs={"hosts": "hosts.txt"})


class OwnSpider(Spider):
    name = "own"


@pytest.mark.parametrize("spider", [SiteGraphSpider, ExtLinksSpider, BroadSpider, TopicSpider, NewsSpider])
def test_crawls_of_all_missions_can_have_several_workers(spider):
    check_workers(Settings({"WORKERS": 2}), spider, OPTIONS)


def test_spider_of_the_user_runs_in_one_process():
    with pytest.raises(ConfigError, match="own is a spider of your own, which runs in one process"):
        check_workers(Settings({"WORKERS": 2}), OwnSpider, OPTIONS)


def test_several_processes_can_not_be_profiled():
    profiled = Namespace(profile="crawl.prof", spargs={})
    with pytest.raises(ConfigError, match="WORKERS=2: --profile measures one process; leave out WORKERS, or write 1"):
        check_workers(Settings({"WORKERS": 2}), SiteGraphSpider, profiled)
