"""A site's queue: the ready ones of its queues, and pages that must wait."""

from crawlers.algorithms.ranking.news_scores import FIT
from crawlers.algorithms.ranking.page_scores import OTHER
from crawlers.algorithms.ranking.queue_shares import QueueShares
from crawlers.frontier.queues.heap_queue import HeapQueue
from crawlers.frontier.site_queue import SiteQueue
from crawlers.frontier.values import QueueEntry
from crawlers.storage.site_rows import SiteRow


def entry(priority, page_id):
    return QueueEntry(priority, page_id, page_id, f"http://a.test/{page_id}", 0, 0, 0, None)


class Queues:
    """Scores that say only in which queue a page waits."""

    def __init__(self, numbers):
        self.numbers = numbers

    def queue(self, page_id):
        return self.numbers[page_id]


def queue(shares=None, waiting=(), numbers=None):
    def bounded(site_id, number, spill_limit):
        return HeapQueue(site_id, number, None, set(), spill_limit)

    scores = None if numbers is None else Queues(numbers)
    return SiteQueue(SiteRow(1, "http://a.test", 1, None, 0.0), {}, bounded, shares, waiting, 0, scores)  # type: ignore[arg-type]


def test_empty_queue_needs_a_refill_only_when_the_store_may_have_more():
    site = queue(QueueShares(explore=0.0, archive=0.0), numbers={**dict.fromkeys(range(1, 8), FIT), 20: OTHER})
    for number in range(1, 8):
        site.push(entry(0.0, number), 2)
    site.push(entry(0.0, 20), 2)
    for _ in range(2):
        site.pop()
    assert (site.needs_refill, site.ready) == ({FIT}, {OTHER})
    site.pop()
    assert (site.needs_refill, site.ready) == ({FIT}, set())
