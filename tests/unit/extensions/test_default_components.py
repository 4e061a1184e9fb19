"""Parts that a user or a spider names come beside the project's, not in their place."""

import pytest
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.spiders import Spider
from scrapy.utils.conf import build_component_list

from crawlers.extensions.metrics_server import MetricsServer
from crawlers.extensions.warc import Warc
from crawlers.pipelines.store import StorePipeline
from crawlers.spiders.base import SiteSpider
from tests.support.opened_crawl import project_settings
from tests.support.plain_mission import PlainSpider

ITEMS = "tests.support.sites.plain.ItemsPipeline"
STORE = "crawlers.pipelines.store.StorePipeline"
BEHIND = ["crawlers.pipelines.graphs.GraphPipeline"]


class OwnSpider(Spider):
    name = "own"
    custom_settings = {  # noqa: RUF012 - Scrapy's convention
        "SPIDER_MIDDLEWARES": {"scrapy.spidermiddlewares.depth.DepthMiddleware": 901},
        "EXTENSIONS": {"scrapy.extensions.periodic_log.PeriodicLog": 0},
    }


def components(name, spider=Spider, **cmdline):
    """What would be built of the setting *name*, in its order."""
    crawler = Crawler(spider, project_settings(**cmdline))
    if issubclass(spider, SiteSpider):
        crawler.spider = crawler._create_spider(**{spider.arguments[0]: "http://a.test"})
    crawler.addons.load_settings(crawler.settings)
    built = build_component_list(crawler.settings.get_component_priority_dict_with_base(name))
    return [part if isinstance(part, str) else f"{part.__module__}.{part.__qualname__}" for part in built]


@pytest.mark.parametrize("own", [{ITEMS: 300}, f'{{"{ITEMS}": 300}}'])
def test_pipeline_of_a_user_comes_before_the_store(own):
    built = components("ITEM_PIPELINES", ITEM_PIPELINES=own)
    assert built == [ITEMS, STORE, *BEHIND]


def test_custom_settings_of_a_spider_push_nothing_out():
    built = components("SPIDER_MIDDLEWARES", OwnSpider)
    assert built[0] == "crawlers.middlewares.callbacks.CallbackMiddleware"
    assert "scrapy.spidermiddlewares.depth.DepthMiddleware" in built
    assert "crawlers.extensions.stopping.Stopping" in components("EXTENSIONS", OwnSpider)


def test_scrapys_robots_txt_stays_off_beside_a_users_middleware():
    built = components("DOWNLOADER_MIDDLEWARES", DOWNLOADER_MIDDLEWARES={"tests.support.sites.plain.SlowFilter": 1})
    assert "tests.support.sites.plain.SlowFilter" in built
    assert "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware" not in built


@pytest.mark.parametrize("path", [STORE, StorePipeline])
def test_part_that_is_named_is_left_as_it_is_named(path):
    assert components("ITEM_PIPELINES", ITEM_PIPELINES={path: None}) == BEHIND
    assert components("ITEM_PIPELINES", ITEM_PIPELINES={path: 5, ITEMS: 300}) == [STORE, ITEMS, *BEHIND]


@pytest.mark.parametrize(
    ("kind", "path", "settings"),
    [
        ("EXTENSIONS", "crawlers.extensions.warc.Warc", {"WARC_FILE": "a.warc"}),
        ("EXTENSIONS", "crawlers.extensions.metrics_server.MetricsServer", {"METRICS_PORT": "9410"}),
        ("EXTENSIONS", "crawlers.extensions.worker_feeds.WorkerFeeds", {"FEEDS": '{"a.csv": {"format": "csv"}}'}),
        ("EXTENSIONS", "crawlers.downloader.browser.Browser", {"RENDER": "playwright"}),
        ("EXTENSIONS", "scrapy.extensions.telnet.TelnetConsole", {"TELNETCONSOLE_ENABLED": "1"}),
        ("EXTENSIONS", "scrapy.extensions.remote_control.RemoteControl", {"REMOTE_CONTROL_ENABLED": "True"}),
        ("DOWNLOADER_MIDDLEWARES", "scrapy.downloadermiddlewares.cookies.CookiesMiddleware", {"COOKIES_ENABLED": 1}),
        ("DOWNLOADER_MIDDLEWARES", "crawlers.middlewares.rendering.RenderingMiddleware", {"RENDER": "playwright"}),
        ("ITEM_PIPELINES", "crawlers.pipelines.graphs.GraphPipeline", {"GRAPH_FORMATS": "gexf", "RESULT_TABLES": ""}),
    ],
)
def test_part_is_left_out_unless_its_setting_is_on(kind, path, settings):
    assert path in components(kind, PlainSpider, **settings)
    assert path not in components(kind, PlainSpider, **dict.fromkeys(settings, ""))


def test_parts_of_plain_spiders_are_left_out_of_missions_that_do_not_name_them():
    retry, referer = "scrapy.downloadermiddlewares.retry.RetryMiddleware", "scrapy.spidermiddlewares.referer"
    assert retry in components("DOWNLOADER_MIDDLEWARES")
    assert retry not in components("DOWNLOADER_MIDDLEWARES", PlainSpider)
    assert components("SPIDER_MIDDLEWARES", PlainSpider) == []
    assert f"{referer}.RefererMiddleware" in components("SPIDER_MIDDLEWARES")


def test_parts_of_a_mission_are_its_own():
    assert ITEMS not in components("ITEM_PIPELINES", PlainSpider)
    assert components("ITEM_PIPELINES", WithItems) == [STORE, ITEMS, *BEHIND]


class WithItems(SiteSpider):
    name = "with_items"
    components = {"ITEM_PIPELINES": {ITEMS: 950}}  # noqa: RUF012 - as declared


@pytest.mark.parametrize("extension", [MetricsServer, Warc])
def test_part_without_its_setting_switches_itself_off_if_no_add_on_leaves_it_out(extension):
    with pytest.raises(NotConfigured):
        extension.from_crawler(Crawler(Spider, project_settings()))
