"""The name of a crawl is that of the setting CRAWL, or of its spider."""

import pytest
from scrapy.settings import Settings
from scrapy.spiders import Spider

from crawlers.inputs.crawl_name import crawl_name, named_by


@pytest.mark.parametrize(("setting", "name"), [("", "news"), (None, "news"), ("press", "press")])
def test_crawl_is_named_by_its_setting_or_spider(setting, name):
    assert crawl_name(Settings({"CRAWL": setting}), Spider(name="news")) == name


@pytest.mark.parametrize(
    ("option", "setting", "name"), [("a", "b", "a"), (None, "b", "b"), ("", "b", "b"), (None, "", None)]
)
def test_command_reads_the_named_crawl_or_the_latest(option, setting, name):
    assert named_by(option, Settings({"CRAWL": setting})) == name
