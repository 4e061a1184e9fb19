"""Pages are paid for what no page of their site was paid for before, however small the memory."""

import random
from types import SimpleNamespace

import pytest

from crawlers.bandits.site_rules import REWARDS
from crawlers.items import ExternalLink, Page, State
from crawlers.missions.extlinks.rewards import Rewards
from crawlers.store.schema.tables import CountedKeyRow
from crawlers.store.sites.site_opening import SiteRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.writer import Writer


@pytest.fixture
def writer(database):
    writer = Writer(database)
    yield writer
    writer.close()


def session_of(database, writer):
    unread = SimpleNamespace(reader=None, run=None)
    return SimpleNamespace(database=database, writer=writer, spec=unread, reader=unread)


def known(site_id):
    return SiteRow(site_id, "http://a.test", 1, None, 0.0)


def page(*keys, state=State.DONE):
    links = [(ExternalLink(f"http://b.test/{key}", key, "http://b.test", "", "", "", "", "a"), 1) for key in keys]
    return Page(1, "http://a.test/", 0, state, external=links)


def test_reward_that_is_not_for_new_links_pays_each_time_and_remembers_nothing(database, writer):
    rewards = Rewards(REWARDS["links"], session_of(database, writer), cache_keys=100)
    assert [rewards.of(1, page(1, 2)) for _ in range(2)] == [(2.0, ()), (2.0, ())]


@pytest.mark.parametrize("cache_keys", [1, 7, 40, 10_000])
def test_small_memory_and_a_new_process_pay_the_same(database, writer, cache_keys):
    rng = random.Random(cache_keys)
    paid = {1: set(), 2: set()}
    rewards = Rewards(REWARDS["new_links"], session_of(database, writer), cache_keys=cache_keys)
    for number in range(400):
        site = rng.choice((1, 2))
        keys = {rng.randrange(1, 200) for _ in range(rng.randrange(1, 12))}
        reward = rewards.of(site, page(*keys))
        assert set(reward.keys) == keys - paid[site]
        assert reward.amount == len(reward.keys)
        paid[site] |= keys
        writer.submit(ChangeSet(*(CountedKeyRow(site, key) for key in reward.keys)))
        if number == 200:
            writer.flush()
            rewards = Rewards(REWARDS["new_links"], session_of(database, writer), cache_keys=cache_keys)
            for site_id in paid:
                rewards.load_sites([known(site_id)])(0.0)


def test_site_that_was_closed_and_opened_again_pays_as_if_it_had_stayed_open(database, writer):
    rewards = Rewards(REWARDS["new_links"], session_of(database, writer), cache_keys=100)
    writer.submit(ChangeSet(*(CountedKeyRow(1, key) for key in rewards.of(1, page(1, 2)).keys)))
    rewards.close_sites([1])
    writer.submit(ChangeSet(CountedKeyRow(1, 3)))  # by another process
    writer.flush()
    rewards.load_sites([known(1)])(0.0)
    assert rewards.of(1, page(1, 2, 3, 4)) == (1.0, {4})
