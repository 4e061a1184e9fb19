"""Each kind of reward counts what it names."""

import pytest

from crawlers.bandits.reward_kinds import REWARDS
from crawlers.items import ExternalLink


def link(site, key):
    return ExternalLink(f"{site}/{key}", key, site, "", "", "", "", "a")


LINKS = [link("http://a.test", 1), link("http://a.test", 2), link("https://a.test", 3), link("http://b.test:81", 2)]


@pytest.mark.parametrize(("name", "number"), [("new_links", 3), ("links", 3), ("new_hosts", 2)])
def test_each_kind_counts_distinct_items_once(name, number):
    assert len(REWARDS[name].keys(LINKS)) == number


def test_only_links_count_again_on_another_page():
    assert [name for name, reward in REWARDS.items() if not reward.only_new] == ["links"]
