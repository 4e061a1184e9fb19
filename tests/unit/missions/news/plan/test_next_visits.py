"""When pages of a news crawl are fetched again; of one site, in a real store."""

from dataclasses import replace

import pytest

from crawlers.frontier.values import Candidate
from crawlers.items import OTHER, State
from crawlers.missions.news.news_items import FEED, HOME, PAGE, News
from crawlers.missions.news.plan.news_scores import ARCHIVE, BEFORE_ARTICLES, FRESH, QueueSlot
from tests.support.frontier_state import counts_of
from tests.support.missions.news.news_run import HOUR, NOW, RULE, feed, target


@pytest.mark.parametrize("status", [301, 302])
def test_given_feed_that_leads_to_itself_is_tried_again(runs, status):
    crawl = runs(roots=("/rss",))
    crawl.end(crawl.leases()["/rss"], state=State.MOVED, status=status, moved_to=target("/rss"))
    assert crawl.poll("/rss") == (FEED, 1, 0)
    assert "/rss" in crawl.leases(NOW + HOUR)


def test_start_page_and_feed_that_robots_txt_forbids_are_looked_at_again(runs):
    crawl = runs(roots=("/rss",))
    for run, now in ((crawl, NOW), (crawl, NOW + HOUR), (None, NOW + 9 * HOUR)):
        run = run or runs(roots=("/rss",))
        leases = run.leases(now)
        assert set(leases) == {"/", "/rss"}
        for lease in leases.values():
            run.end(lease, state=State.REJECTED, status=0, reason="robots_disallows", now=now)
    assert (run.poll("/"), run.poll("/rss")) == ((HOME, 3, 0), (FEED, 3, 0))
    leases = run.leases(NOW + 30 * HOUR)
    run.end(leases["/"], "/x", now=NOW + 30 * HOUR)
    assert (run.poll("/"), counts_of(run.frontier)[run.site_id][State.DONE]) == ((HOME, 0, 1), 1)


def test_page_that_was_announced_while_it_was_read_comes_back_at_once_and_whole(runs):
    crawl = runs()
    crawl.end(crawl.lease(), "/a1", news=News(feeds=[target("/feed")]))
    found = crawl.leases()
    crawl.end(found["/feed"], "/a1", news=feed("/a1"))
    crawl.end(found["/a1"], etag='"1"', last_modified="yesterday")
    again = crawl.leases()["/a1"]
    assert (again.is_revisit, again.previous.etag, again.previous.last_modified) == (True, None, None)
    crawl.end(again, etag='"1"', news=News())
    assert "/a1" not in crawl.leases(NOW + 99 * HOUR), "once is enough"


def test_page_that_shows_articles_comes_back_and_one_that_shows_few_does_not(runs):
    crawl = runs(RULE)
    crawl.end(crawl.lease(), "/section", "/about")
    found = crawl.leases()
    crawl.end(found["/section"], "/a1", "/a2")
    crawl.end(found["/about"], "/a3")
    assert crawl.poll("/section") == (PAGE, 0, 0)
    assert crawl.poll("/about") == ()
    crawl.end(crawl.leases(NOW + 9 * HOUR)["/section"], "/a1", "/a4", now=NOW + 9 * HOUR)
    assert crawl.poll("/section") == (PAGE, 0, 1)
    assert crawl.slot("/a4") == (FRESH, NOW + 9 * HOUR)


def test_section_that_a_feed_announces_is_polled_on_if_it_shows_new_articles(runs):
    crawl = runs(RULE)
    crawl.end(crawl.lease(), "/section", news=News(feeds=[target("/feed")]))
    found = crawl.leases()
    crawl.end(found["/section"], "/a1", "/a2")
    assert crawl.poll("/section") == (PAGE, 0, 0)
    crawl.end(found["/feed"], "/section", news=feed("/section"))
    crawl.end(crawl.leases()["/section"], "/a3", "/a4", "/a5")
    assert crawl.poll("/section")[0] == PAGE


def test_home_page_that_moved_is_one_at_its_new_address(runs):
    crawl = runs()
    crawl.end(crawl.lease(), state=State.MOVED, status=301, moved_to=target("/en/"))
    assert crawl.slot("/en/") == BEFORE_ARTICLES
    crawl.end(crawl.lease(), state=State.FAILED, status=0, reason="timeout")
    assert crawl.poll("/en/") == (HOME, 1, 0)


@pytest.mark.parametrize(("path", "queue", "kind"), [("/archive/2019/05", ARCHIVE, None), ("/tag/storm", OTHER, PAGE)])
def test_page_of_an_archive_that_shows_new_articles_is_read_once(runs, path, queue, kind):
    crawl = runs(RULE)
    crawl.end(crawl.leases()["/"])
    crawl.frontier.add([Candidate(crawl.site_id, target(path), level=1, hint=QueueSlot(queue, 1.0))], NOW)
    crawl.end(crawl.leases()[path], "/a1", "/a2", "/a3")
    assert crawl.poll(path)[:1] == ((kind,) if kind else ())


def test_long_feed_is_read_on_at_the_next_polls_while_that_brings_something_new(runs):
    crawl = runs(roots=("/rss",))
    rest = replace(feed("/a1", "/a2"), rest=2)
    crawl.end(crawl.leases()["/rss"], "/a1", "/a2", news=rest, etag='"1"')
    again = runs(roots=("/rss",))  # it is stored
    lease = again.leases(NOW + HOUR)["/rss"]
    assert again.polls.rest(lease.id) == 2
    assert lease.previous.etag is None, "the next response must be complete"
    rows = again.rows("SELECT problem, failures FROM poll JOIN page ON page.id = page_id WHERE key", "/rss")
    assert rows == [("feed_rest 2", 0)]
    again.end(lease, "/a2", news=replace(feed("/a2"), rest=3), now=NOW + HOUR, etag='"1"')
    assert again.polls.rest(lease.id) == 0, "what follows was read before"


def test_possible_feed_that_is_too_large_is_listed_with_the_feeds(runs):
    crawl = runs()
    crawl.end(crawl.lease(), "/a1", news=News(feeds=[target("/feed"), target("/gone")]))
    found = crawl.leases()
    for path, reason in (("/feed", "too_large"), ("/gone", "status 404"), ("/a1", "too_large")):
        crawl.end(found[path], state=State.REFUSED, reason=reason)
    assert [crawl.poll(path) for path in ("/feed", "/gone", "/a1")] == [(FEED, 1, 0), (), ()]
