"""A site's queue: the ready ones of its queues, and pages that must wait."""

from crawlers.frontier.site_queue import PageQueue, SiteQueue
from crawlers.missions.news.plan.news_scores import FIT, QueueShares
from crawlers.ranking.page_scores import OTHER
from crawlers.store.sites.site_rows import SiteRow
from tests.support.frontier_scores import FixedScores, entry


def test_empty_queue_needs_a_refill_only_when_the_store_may_have_more():
    def bounded(site_id, number, spill_limit):
        return PageQueue(site_id, number, None, set(), spill_limit)

    scores = FixedScores()
    scores.queues = {**dict.fromkeys(range(1, 8), FIT), 20: OTHER}
    shares = QueueShares(explore=0.0, archive=0.0)
    site = SiteQueue(SiteRow(1, "http://a.test", 1, None, 0.0), {}, bounded, shares, (), 0, scores)
    for number in scores.queues:
        site.push(entry(number), 2)
    for _ in range(2):
        site.pop()
    assert (site.needs_refill, site.ready) == ([FIT], [OTHER])
    site.pop()
    assert (site.needs_refill, site.ready) == ([FIT], [])
