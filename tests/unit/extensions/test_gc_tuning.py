"""The garbage collector during a crawl."""

import gc

from scrapy.addons import AddonManager

from crawlers.extensions.gc_tuning import THRESHOLDS, GcTuning
from tests.support.opened_crawl import project_settings


def test_nothing_is_collected_before_the_spider_is_open_and_little_while_it_is():
    before, add_on = gc.get_threshold(), GcTuning()
    try:
        AddonManager.load_pre_crawler_settings(project_settings())
        assert not gc.isenabled()
        add_on.freeze()
        assert gc.isenabled()
        assert gc.get_threshold() == THRESHOLDS
        assert gc.get_freeze_count() > 0
    finally:
        gc.enable()
        add_on.unfreeze()
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
