"""Parts that a user or a spider names come beside the project's, not in their place."""

import pytest
from scrapy.crawler import Crawler
from scrapy.spiders import Spider
from scrapy.utils.conf import build_component_list

from crawlers.pipelines.store import StorePipeline
from tests.support.opened_crawl import project_settings

ITEMS = "tests.support.sites.plain.ItemsPipeline"
STORE = "crawlers.pipelines.store.StorePipeline"
BEHIND = [
    "crawlers.pipelines.document_items.DocumentPipeline",
    "crawlers.pipelines.graphs.GraphPipeline",
    "crawlers.pipelines.topic.TopicPipeline",
]


class OwnSpider(Spider):
    name = "own"
    custom_settings = {  # noqa: RUF012 - Scrapy's convention
        "SPIDER_MIDDLEWARES": {"scrapy.spidermiddlewares.depth.DepthMiddleware": 901},
        "EXTENSIONS": {"scrapy.extensions.periodic_log.PeriodicLog": 0},
    }


def components(name, spider=Spider, **cmdline):
    """What would be built of the setting *name*, in its order."""
    crawler = Crawler(spider, project_settings(**cmdline))
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
