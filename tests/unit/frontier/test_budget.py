"""The pulls of a crawl: their budget and their rewards."""

from crawlers.bandits.arms import Patience
from crawlers.frontier.budget import PullBudget
from crawlers.frontier.site_queue import SiteQueue
from crawlers.frontier.values import NO_REWARD, Lease, Reward
from crawlers.store.schema.tables import CountedKeyRow, PullRow
from crawlers.store.sites.site_opening import SiteRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.pulls import Pull


class Heard:
    """A rule that records the reported pulls."""

    has_index = True

    def __init__(self):
        self.told = []

    def is_close_to_best(self, arm, share):
        self.told.append(("is_close_to_best", arm, share))
        return False

    def record_pull(self, arm):
        self.told.append(("record_pull", arm))

    record_request = record_pull

    def record_reward(self, arm, reward):
        self.told.append(("record_reward", arm, reward))

    def cancel_pull(self, arm):
        self.told.append(("cancel_pull", arm))

    cancel_request = cancel_pull


def site(number):
    return SiteQueue(SiteRow(number, f"http://{number}.test", 1, None, 0.0), {}, None)


SITE = site(7)


def lease(page_id):
    return Lease(page_id, 7, page_id, "http://a.test/", 0, 0, 0, None, 0.0)


def test_ended_pull_is_written_with_its_rewarded_keys():
    changes = ChangeSet()
    pulls = PullBudget(Heard(), 0, records=True, worker_id=3)
    pulls.record_pull(SITE, lease(42))
    pulls.record_reward(SITE, lease(42), Reward(2.0, {9, 3}), 5.5, changes)
    assert changes[PullRow] == [(7, 42, 2.0, 5.5, 3)]
    assert changes[CountedKeyRow] == [(7, 3), (7, 9)]


def test_rule_receives_the_pulls_of_others_as_its_own():
    before, after = Heard(), Heard()
    past = [Pull(1, 3.0), Pull(2, 0.0), Pull(1, 1.0)]
    sites = {number: site(number) for number in (1, 2)}
    pulls = PullBudget(before, 0, records=False)
    for number, reward, _ in past:
        pulls.record_pull(sites[number], lease(1))
        pulls.record_reward(sites[number], lease(1), Reward(reward), 0.0, ChangeSet())
    assert PullBudget(after, 3, records=False).learn(past) == 3
    assert after.told == before.told


def test_pace_of_a_run_counts_its_own_pulls_and_what_was_left_of_the_budget():
    pulls = PullBudget(Heard(), 12, Patience(0.9, 60.0, timeout_s=100.0), records=False)
    pulls.learn([Pull(7, 1.0), Pull(7, 0.0)])
    assert pulls.patient_until(1000.0) == 1000.0
    pulls.record_pull(SITE, lease(10))
    pulls.record_pull(SITE, lease(11))
    pulls.record_reward(SITE, lease(10), NO_REWARD, 1001.0, ChangeSet())
    assert pulls.patient_until(1005.0) == 1020.0
    pulls.cancel_pull(SITE, lease(11))
    assert pulls.patient_until(1005.0) == 1010.0
    pulls.learn([Pull(8, 1.0)] * 4)
    assert pulls.patient_until(1005.0) == 1050.0, "the pace is that of all workers"


def test_share_of_the_best_index_holds_while_the_crawl_waits_for_good_sites():
    assert PullBudget(Heard(), 10, Patience(0.9, 0.0), records=False).index_share(0.0) == 0.0
    assert PullBudget(Heard(), 0, Patience(0.9, 30.0), records=False).index_share(0.0) == 0.0, "all pages are read"
    pulls = PullBudget(Heard(), 10, Patience(0.9, 30.0, timeout_s=100.0), records=False)
    assert pulls.index_share(5.0) == 0.9
    assert pulls.patient_until(5.0) == 5.0, "nothing is spent"
    pulls.record_pull(SITE, lease(10))
    assert [pulls.index_share(now) for now in (14.0, 15.0)] == [0.9, 0.0], "a tenth of the time"
