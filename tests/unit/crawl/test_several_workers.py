"""Several workers share the sites and the budget of one crawl, in one process and on one database."""

from collections import Counter

import pytest

from crawlers.crawl.site_files import RobotsNeeded
from crawlers.errors import ClaimsLost, ConfigError
from crawlers.items import SiteLimits
from crawlers.ranking.link_features import feature_id
from crawlers.ranking.page_orders import REWARDS
from crawlers.urls.scope import Scope
from tests.support.opened_crawl import OpenedCrawl, rounds, target

SITES = [f"http://s{number}.test" for number in range(6)]


@pytest.fixture
def opened(begin):
    """Opens a further worker of one crawl of *number* sites; *mission* has further fields of its specification."""

    def open_crawl(number=4, mission=None, policy=None, **settings):
        sites = [SiteLimits(site) for site in SITES[:number]]
        shared = {"sites": sites, **(mission or {})}
        return begin(policy, shared, **{"WORKER_DEADLINE_SECONDS": 30.0, **settings})

    return open_crawl


def end(crawl, lease, links=0):
    """Read the page of *lease* with links to new pages."""
    site = lease.url.split("/", 3)[2]
    crawl.end(lease, *(f"http://{site}/{lease.id}-{number}" for number in range(links)))


def owners(crawl):
    return [owner for (owner,) in crawl.rows("SELECT worker_id FROM site ORDER BY id")]


# Sites


def test_worker_that_joins_gets_its_share_and_each_page_is_leased_once(opened):
    one, two = opened(), opened()
    assert two.crawl.has_joined
    assert two.crawl.leasing.has_pending  # it stays, although it has nothing to do yet
    rounds(two, one, two)
    assert Counter(owners(one)) == {one.crawl.session.row.worker_id: 2, two.crawl.session.row.worker_id: 2}
    urls = [lease.url for crawl in (one, two) for lease in crawl.leases()]
    assert sorted(urls) == [f"{site}/" for site in SITES[:4]]


@pytest.mark.both_stores
@pytest.mark.parametrize("joins_first", [True, False])
def test_site_that_one_worker_found_public_is_never_private_to_another(database_url, joins_first):
    mission = {"sites": [SiteLimits(site) for site in SITES]}
    crawls = [OpenedCrawl(database_url, mission=mission) for _ in range(1 + joins_first)]
    for site in SITES:
        host = site.removeprefix("http://")
        assert crawls[0].crawl.addresses.admitted(host, ["93.184.216.34"])
    crawls[0].crawl.session.writer.flush()
    if not joins_first:
        crawls.append(OpenedCrawl(database_url, mission=mission))
    one, two = crawls
    rounds(two, one, two)
    held = [row.site for row in two.crawl.sites.rows.values()]
    assert held
    assert not any(two.crawl.addresses.admitted(site.removeprefix("http://"), ["127.0.0.1"]) for site in held)
    for crawl in crawls:
        crawl.crawl.session.close_all()


def test_site_keeps_its_delay_when_it_is_given_up(opened):
    one, two = opened(2, SITE_DELAY_SECONDS=30.0), opened(2, SITE_DELAY_SECONDS=30.0)
    for lease in one.leases():
        end(one, lease, links=1)
    one.now += 1.0
    two.now = one.now
    rounds(two, one, two)
    assert two.crawl.session.row.worker_id in owners(one)
    assert two.leases() == []
    assert two.crawl.leasing.next_due(two.now) == pytest.approx(29.0, abs=1.0)  # the clocks of tests stand still


def test_site_whose_robots_txt_is_being_fetched_is_not_given_up(opened):
    one, two = opened(3, ROBOTSTXT_OBEY=True), opened(3, ROBOTSTXT_OBEY=True)
    needed = [one.robots(), one.robots(), one.robots()]
    assert one.crawl.robots.begin(needed[0].site_id)
    rounds(two, one, two)
    kept = [one.crawl.session.row.worker_id == owner for owner in owners(one)]
    assert kept[needed[0].site_id - 1]
    assert not all(kept)
    assert isinstance(two.crawl.leasing.next(two.now), RobotsNeeded)
    gone = next(one for one in needed if not kept[one.site_id - 1])
    assert not one.crawl.robots.begin(gone.site_id)  # that in the queue is not requested any more


def test_sites_that_others_discovered_count_before_more_are_added(opened, monkeypatch):
    monkeypatch.setattr("crawlers.crawl.session.MOST_SITES", 3)
    one, two = (opened(2, {"scope": Scope("all", SITES[:2])}) for _ in range(2))
    rounds(two, one, two)
    for crawl, name in ((one, "x"), (two, "y")):
        (lease,) = crawl.leases()
        crawl.end(lease, cross_site_links=[(target(f"http://{name}.test/"), 1)])
        crawl.crawl.session.writer.flush()
    assert one.rows("SELECT site FROM site WHERE id > 2") == [("http://x.test",)]
    assert one.rows("SELECT url FROM external_url") == [("http://y.test/",)]


# Deaths


def test_worker_whose_lock_is_free_loses_its_claims_and_stores_nothing_more(opened):
    one, two = opened(2), opened(2)
    first, _ = one.leases()
    one.crawl.session.lock.release()  # as a server does for one that froze, or was cut off
    rounds(two)
    assert owners(two) == [two.crawl.session.row.worker_id] * 2
    end(one, first, links=3)
    one.round()
    assert isinstance(one.crawl.control.failure, ClaimsLost)
    assert one.stopped == ["store_failed"]
    written = []
    one.close(lambda: written.append(1))
    assert (written, one.crawl.has_ended) == ([], False)
    assert len(two.pages()) == 2
    assert len(two.leases()) == 2


# The end


def test_worker_that_died_just_now_does_not_keep_the_others_from_writing_the_outputs(opened):
    one, two = opened(), opened()
    rounds(one, two)
    two.crawl.session._lock.release()  # as operating system or server do
    written = []
    one.close(lambda: written.append("one"), reason="shutdown")
    assert (written, one.states()) == (["one"], [("interrupted", "shutdown")])
    assert one.rows("SELECT state FROM worker ORDER BY id") == [("left",), ("lost",)]


def test_levels_are_settled_by_the_elected_worker_when_the_others_have_left(opened, monkeypatch):
    one, two = opened(2, ORDER="opic"), opened(2, ORDER="opic")
    rounds(two, one, two)
    for crawl in (one, two):
        for lease in crawl.leases():
            end(crawl, lease, links=1)
        for lease in crawl.leases():
            end(crawl, lease)
    rounds(one, two)
    elected, other = (one, two) if one.crawl.session.claims.last.is_elected else (two, one)
    assert (elected.crawl.leasing.has_pending, other.crawl.leasing.has_pending) == (True, False)
    assert not other.crawl.leasing.has_unsettled_levels
    other.close()
    rounds(elected)
    assert owners(elected) == [elected.crawl.session.row.worker_id] * 2
    assert (elected.crawl.leasing.has_pending, elected.crawl.leasing.has_unsettled_levels) == (False, True)


def test_worker_begins_with_the_weights_of_the_crawl_without_their_file(opened, tmp_path):
    file = tmp_path / "mine.json"
    file.write_text('{"anchor": {"news": 2.0}}')
    settings = {"ORDER": "learnt", "LINK_PRIOR": str(file)}
    first = opened(mission={"gives": {REWARDS: True}}, **settings)
    file.unlink()
    second = opened(mission={"gives": {REWARDS: True}}, **settings)
    news = feature_id("anchor", "", "news")
    for crawl in (first, second):
        assert crawl.crawl.session.order.link_values.parts([news]) == (2.0,)
    with pytest.raises(ConfigError, match=r"^LINK_PRIOR=shipped: give LINK_PRIOR=.*mine.json to join the crawl"):
        opened(mission={"gives": {REWARDS: True}}, ORDER="learnt")
