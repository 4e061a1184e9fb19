"""Pages that were read before a rule classified their URLs as articles are fetched again, once."""

import asyncio

import pytest

from crawlers.frontier.values import Candidate
from crawlers.items import State
from crawlers.missions.news.feeds.feed_registry import USUAL_PLACES
from crawlers.missions.news.news_items import News
from crawlers.missions.news.plan.next_visits import MAX_REPEATS, REPEAT_VISIT_S
from crawlers.missions.news.urls import rejudging
from crawlers.missions.news.urls.rule_learner import HAND, UrlRule
from crawlers.reasons import Reason
from tests.support.news_run import NOW, SITE, target

RULE = UrlRule("/a[0-9]+", 1.0, HAND)
HOUR = 3600.0


def read(crawl, *paths, reason=""):
    """Let the home page link to *paths*, and read them; they are no documents."""
    crawl.end(crawl.leases()["/"], *paths, now=NOW)
    for _ in paths:
        for path, lease in crawl.leases().items():
            assert path in paths or path.startswith(("/feed", "/rss"))
            crawl.end(lease, state=State.DONE, reason=reason)


def again(crawl, *polls, most=99):
    """Poll the home page at these times; return the pages that were fetched again. Their contents are lists.

    The run is killed after *most* of them.
    """
    fetched = set()
    for at in polls:
        while due := {
            path: lease for path, lease in crawl.leases(at).items() if not path.startswith(("/feed", "/rss"))
        }:
            for path, lease in due.items():
                assert lease.is_revisit or path in USUAL_PLACES
                if path == "/" or path in USUAL_PLACES:
                    crawl.end(lease, now=at)
                    continue
                assert path not in fetched
                assert lease.previous is not None
                assert not lease.previous.etag
                assert not lease.previous.last_modified
                if len(fetched) == most:
                    return fetched
                fetched.add(path)
                crawl.end(lease, now=at, news=News(fits=True, odds=-2.0), reason=Reason.LIST_OF_LINKS)
    return fetched


def polls(first, last):
    """Return some times at which the home page is due."""
    return [NOW + number * 9 * HOUR for number in range(first, last)]


@pytest.mark.parametrize(
    ("reason", "first", "later"),
    [("", {"/a1", "/a2"}, {"/b1"}), (Reason.UNSURE, {"/a1", "/a2"}, {"/b1"}), (Reason.NO_TEXT, set(), set())],
)
def test_page_that_was_read_before_its_rule_is_fetched_again_once_unless_its_article_was_looked_for(
    runs, reason, first, later
):
    read(runs(), "/a1", "/b1", "/a2", reason=reason)
    assert again(runs(RULE), *polls(1, 5)) == first
    other = runs(UrlRule("/[ab][0-9]+", 1.0, HAND))
    assert again(other, *polls(5, 9)) == later, "the others are known not to be articles"


def test_run_that_was_killed_goes_on_with_the_pages_that_are_left(runs, monkeypatch):
    monkeypatch.setattr(rejudging, "BATCH_PAGES", 2)
    monkeypatch.setattr(rejudging, "MOST_AT_ONCE", 1)
    read(runs(), *(f"/a{n}" for n in range(5)))
    some = again(runs(RULE), *polls(1, 9), most=2)
    assert len(some) == 2
    assert again(runs(RULE), *polls(9, 20)) == {f"/a{n}" for n in range(5)} - some


def test_pages_are_fetched_again_within_the_explore_share_while_others_wait(runs):
    read(runs(), *[f"/a{n}" for n in range(30)])
    crawl = runs(RULE)
    crawl.end(crawl.leases(NOW + 9 * HOUR)["/"], *(f"/c{n}" for n in range(200)), now=NOW + 9 * HOUR)
    fetched, others = 0, 0
    while others < 100:
        lease = crawl.lease(NOW + 9 * HOUR)
        path = lease.url.rpartition("/")[2]
        fetched += path.startswith("a")
        others += path.startswith("c")
        crawl.end(lease, now=NOW + 9 * HOUR, news=News(fits=True), reason="no_text" if path[0] == "a" else "")
    assert 3 <= fetched <= 8, "one in twenty, and one to begin with"


def test_page_that_was_in_flight_when_its_rule_was_learnt_is_read_again(runs):
    crawl = runs()
    crawl.end(crawl.leases()["/"], "/a1")
    lease = crawl.leases()["/a1"]
    crawl.mission.classifier.replace("one.test", [RULE])
    crawl.end(lease)
    assert again(crawl, NOW + HOUR) == {"/a1"}


def judging_of(crawl):
    """Return the pages that are judged again; those of the site are to be judged."""
    judging = crawl.mission._requeue.rejudging
    assert judging.begin(crawl.site_id, SITE)
    return judging


def looked_up(judging):
    query = judging.look_up()
    assert query is not None
    return query()


def test_batch_that_was_read_for_earlier_rules_is_not_taken_for_one_of_the_present_ones(runs, monkeypatch):
    monkeypatch.setattr(rejudging, "BATCH_PAGES", 2)
    read(runs(), "/b1", "/b2", "/a3", "/a4")
    crawl = runs(RULE)
    judging = judging_of(crawl)
    judging.keep(looked_up(judging))
    earlier = looked_up(judging)
    assert [page.url for page in earlier.pages] == [crawl.url("/a3"), crawl.url("/a4")]
    crawl.mission.classifier.replace("one.test", [UrlRule("/[ab][0-9]+", 1.0, HAND)])
    judging.begin(crawl.site_id, SITE)
    judging.keep(earlier)
    assert [page.url for page in looked_up(judging).pages] == [crawl.url("/b1"), crawl.url("/b2")]


def test_pages_in_flight_do_not_read_the_same_slice(runs):
    read(runs(), "/a1")
    judging = judging_of(runs(RULE))
    found = looked_up(judging)
    assert judging.look_up() is None
    judging.keep(None)
    assert looked_up(judging).pages == found.pages, "the first query failed"


def test_pages_are_judged_once_by_the_same_rules(runs):
    read(runs(), "/b1")
    crawl = runs(RULE)
    judging = judging_of(crawl)
    found = looked_up(judging)
    assert judging.begin(crawl.site_id, SITE)
    judging.keep(found)
    assert list(judging.step(None, NOW)) == [crawl.site_id]
    assert not judging.begin(crawl.site_id, SITE)
    crawl.mission.classifier.replace("one.test", [UrlRule("/[ab][0-9]+", 1.0, HAND)])
    assert judging.begin(crawl.site_id, SITE)


def test_pages_are_judged_again_although_nothing_is_in_flight(runs):
    read(runs(), "/a1", "/b1")
    crawl = runs(RULE)
    assert crawl.mission.has_more
    asyncio.run(crawl.mission.step(0, NOW))
    assert not crawl.mission.has_more
    assert crawl.leases()["/a1"].is_revisit


def test_pages_beyond_the_share_wait_for_downloads_of_their_site(runs):
    read(runs(), "/a1", "/a2", "/b1")
    crawl = runs(RULE)
    crawl.frontier.add([Candidate(crawl.site_id, target("/c1"))], NOW)
    assert crawl.mission.is_queueing, "pages are not judged yet"
    asyncio.run(crawl.mission.step(0, NOW))
    assert (crawl.mission.has_more, crawl.mission.is_queueing) == (True, False), "/a2 is beyond the share"
    for lease in crawl.leases().values():
        crawl.end(lease, now=NOW, news=News(fits=True), reason=Reason.LIST_OF_LINKS)
    assert (crawl.mission.has_more, crawl.mission.is_queueing) == (False, False), "nothing else waited in the end"
    assert "/a2" in crawl.leases()


def test_second_visit_that_fails_is_repeated_a_few_times(runs):
    read(runs(), "/a1")
    crawl, at = runs(RULE), NOW
    asyncio.run(crawl.mission.step(0, at))
    for _ in range(MAX_REPEATS + 1):
        crawl.end(crawl.leases(at)["/a1"], now=at, state=State.FAILED, status=0, reason="timeout")
        assert "/a1" not in crawl.leases(at)
        at += REPEAT_VISIT_S
    assert "/a1" not in crawl.leases(at)
