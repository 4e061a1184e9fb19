"""The default policy admits every URL and adds nothing to a page."""

from crawlers.algorithms.urls.resolution import resolve
from crawlers.crawl.policy import CrawlPolicy
from crawlers.frontier.values import Lease
from crawlers.items import Page, State

TARGET = resolve("http://one.test", "/a")
LEASE = Lease(1, 2, TARGET.key, TARGET.url, 0, 0, 0, None, 0.0)


def test_default_policy_is_ready_and_changes_nothing():
    policy, page = CrawlPolicy(), Page(1, TARGET.url, 0, State.DONE)
    decision = policy.decide(LEASE, page, 5.0)
    assert decision.page is page
    assert (decision.slots, decision.revisit_at, list(decision.changes)) == ({}, None, [])
    assert policy.is_ready
    assert policy.found_by_robots(["http://one.test/s.xml"]) == []
    assert policy.reason_to_skip(LEASE) is None
    assert policy.reason_against(TARGET) is None
