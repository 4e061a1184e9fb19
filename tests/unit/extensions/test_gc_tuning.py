"""The garbage collector during a crawl."""

import gc

from crawlers.extensions.gc_tuning import THRESHOLDS, GcTuning


def test_what_was_there_before_is_left_alone_while_the_spider_is_open():
    before, extension = gc.get_threshold(), GcTuning()
    extension.freeze()
    try:
        assert gc.get_threshold() == THRESHOLDS
        assert gc.get_freeze_count() > 0
    finally:
        extension.unfreeze()
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
