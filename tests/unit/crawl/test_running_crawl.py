"""A crawl hands out leases and stores pages."""

import asyncio
import threading

import pytest

from crawlers.crawl import leasing
from crawlers.crawl.run import Run
from crawlers.frontier.values import Candidate, Decision, Reward
from crawlers.items import ExternalLink, Page, SiteLimits, State
from crawlers.pages.robots_groups import UNREACHABLE
from tests.support.opened_crawl import NOW, SITE, target

OTHER = "http://b.test"


# The next URL


def test_robots_txt_is_stored_and_obeyed(opened):
    crawl = opened(ROBOTSTXT_OBEY=True, ROBOTS_MAX_DELAY_SECONDS=3.0)
    text = "User-agent: *\nDisallow: /secret\nCrawl-delay: 86400"
    crawl.crawl.answers.record_robots(crawl.robots().site_id, 200, text)
    assert crawl.crawl.leasing.next(NOW) is None
    assert crawl.crawl.leasing.next_due(NOW) == 3.0
    crawl.now += 3.0
    crawl.end(crawl.lease(), "/secret")
    assert crawl.crawl.leasing.next_due(crawl.now) == 3.0
    crawl.now += 3.0
    assert crawl.crawl.leasing.next(crawl.now) is None
    assert crawl.pages()["/secret"] == (State.REJECTED, "robots_disallows")
    assert crawl.rows("SELECT robots_status, robots_text, robots_at FROM site") == [(200, text, NOW)]


def test_robots_txt_that_stays_inaccessible_is_needed_again_later(opened):
    crawl = opened(ROBOTSTXT_OBEY=True, ROBOTS_REST_SECONDS=150.0)
    crawl.crawl.answers.record_robots(crawl.robots().site_id, UNREACHABLE, "timeout")
    assert crawl.crawl.leasing.next(NOW) is None
    assert crawl.pages()["/"] == (State.REJECTED, "robots_unread timeout")
    crawl.now += 7199.0
    crawl.crawl.frontier.add([Candidate(1, target("/a"))], crawl.now)
    assert crawl.crawl.leasing.next(crawl.now) is None
    crawl.now += 1.0
    crawl.crawl.frontier.add([Candidate(1, target("/b"))], crawl.now)
    assert crawl.robots().address == SITE
    assert crawl.pages()["/a"][0] is State.REJECTED


def test_urls_of_a_site_wait_while_its_robots_txt_is_inaccessible(opened):
    crawl = opened({"sites": [SiteLimits(SITE), SiteLimits(OTHER)]}, ROBOTSTXT_OBEY=True)
    first, second = crawl.robots(), crawl.robots()
    crawl.crawl.answers.record_robots(first.site_id, UNREACHABLE, "timeout", 300.0)
    crawl.crawl.answers.record_robots(second.site_id, 503, None, 300.0)
    crawl.crawl.frontier.add([Candidate(first.site_id, target("/a"))], NOW)
    assert crawl.crawl.leasing.next(NOW + 300.0) is None
    assert crawl.crawl.leasing.has_pending
    assert set(state for state, _ in crawl.pages().values()) == {State.WAITING}
    stored = crawl.rows("SELECT robots_status, robots_text, rest_until FROM site")
    assert stored == [(UNREACHABLE, "timeout", NOW + 300.0), (503, None, NOW + 300.0)]
    assert crawl.stats["robots/rests"] == 2
    crawl.crawl.answers.record_robots(first.site_id, 404, None)
    assert [crawl.lease().url, crawl.lease().url] == [f"{SITE}/", f"{SITE}/a"]


class Rewarding(Run):
    """Rewards pages for each external link."""

    def decide(self, lease, page, now):
        return Decision(page, reward=Reward(float(len(page.external))))


def test_crawl_with_a_budget_waits_for_the_robots_txt_of_a_site_but_not_while_it_rests(begin):
    sites = {"sites": [SiteLimits(SITE), SiteLimits(OTHER)], "page_budget": 9, "has_rewards": True}
    crawl = begin(Rewarding(None, None), sites, ROBOTSTXT_OBEY=True, RULE="auto")
    first, second = crawl.robots(), crawl.robots()
    crawl.crawl.answers.record_robots(first.site_id, 404, None)
    found = ExternalLink("http://c.test/", 1, "http://c.test", "", "", "", "", "a")
    crawl.end(crawl.lease(), "/a", external=((found, 1),))
    assert crawl.crawl.leasing.next(NOW) is None, "the other site may be better"
    crawl.crawl.answers.record_robots(second.site_id, UNREACHABLE, "timeout", 300.0)
    assert crawl.lease().url == f"{SITE}/a"


@pytest.mark.parametrize("is_once", [False, True])
def test_crawl_waits_for_robots_txt_only_when_nothing_else_can_be_fetched(opened, policy, is_once):
    sites = {"sites": [SiteLimits(SITE), SiteLimits(OTHER, delay_s=9.0)]}
    crawl = opened({**sites, "ends_early": is_once}, ROBOTSTXT_OBEY=True)
    first, second = crawl.robots(), crawl.robots()
    assert crawl.crawl.leasing.waits_for_robots(NOW)
    crawl.crawl.answers.record_robots(second.site_id, 404, None)
    crawl.crawl.answers.record_robots(first.site_id, UNREACHABLE, "timeout", 300.0)
    assert not crawl.crawl.leasing.waits_for_robots(NOW), "a page will be fetched"
    crawl.now += 9.0
    lease = crawl.lease()
    assert not crawl.crawl.leasing.waits_for_robots(crawl.now), "a page is being fetched"
    crawl.fail(lease)
    assert not crawl.crawl.leasing.waits_for_robots(crawl.now), "it will be tried again"
    crawl.now += 9.0
    crawl.end(crawl.lease())
    assert crawl.crawl.leasing.waits_for_robots(crawl.now)
    policy.more = True
    assert not crawl.crawl.leasing.waits_for_robots(crawl.now), "the policy queues pages"
    policy.more, policy.is_ready = False, False
    assert not crawl.crawl.leasing.waits_for_robots(crawl.now), "the policy waits for something else"


def test_one_call_rejects_a_bounded_number_of_urls(opened, policy, monkeypatch):
    monkeypatch.setattr(leasing, "MAX_REJECTED", 2)
    crawl = opened()
    policy.skipped = {"/a", "/b", "/c"}
    crawl.end(crawl.lease(), "/a", "/b", "/c", "/d")
    assert crawl.crawl.leasing.next(NOW) is None
    assert crawl.crawl.leasing.next_due(NOW) == 0.0
    assert crawl.lease().url == f"{SITE}/d"


def test_nothing_is_requested_before_the_policy_is_ready(opened, policy):
    policy.is_ready = False
    crawl = opened()
    assert (crawl.crawl.leasing.next(NOW), crawl.crawl.leasing.next_due(NOW)) == (None, None)
    policy.is_ready = True
    crawl.crawl.control.resume()
    assert crawl.wakes == 1
    assert crawl.crawl.leasing.next_due(NOW) == 0.0
    assert crawl.lease().url == f"{SITE}/"


@pytest.mark.parametrize("is_foreign", [False, True])
def test_concurrent_requests_bound_the_leases_of_missions(opened, is_foreign):
    crawl = opened({"is_foreign": is_foreign}, CONCURRENT_REQUESTS=2, SITE_PARALLEL=9)
    crawl.crawl.frontier.add([Candidate(1, target(f"/{n}")) for n in range(9)], NOW)
    crawl.end(crawl.lease())
    crawl.lease()
    assert (crawl.crawl.leasing.next(NOW, in_flight=1) is None) is not is_foreign
    assert (crawl.crawl.leasing.next_due(NOW, in_flight=1) is None) is not is_foreign
    crawl.lease()
    assert (crawl.crawl.leasing.next(NOW) is None) is not is_foreign


def test_pages_that_are_rejected_in_flight_leave_room_for_other_sites(opened):
    sites = [SiteLimits(f"http://{name}.test") for name in "abcde"]
    crawl = opened({"sites": sites}, CONCURRENT_REQUESTS=2)
    for _ in sites:
        lease = crawl.lease()
        crawl.crawl.recording.record(Page(lease.id, lease.url, lease.level, State.REJECTED, reason="proxy a.test"))
    assert not crawl.crawl.frontier.schedule.is_waiting


def test_delay_of_a_site_counts_from_the_time_at_which_its_request_was_sent(opened):
    crawl = opened(SITE_DELAY_SECONDS=5.0)
    lease = crawl.lease()
    crawl.now += 3.0
    crawl.crawl.leasing.record_request(lease)
    crawl.end(lease, "/a")
    assert crawl.crawl.leasing.next_due(crawl.now) == 5.0
    crawl.crawl.leasing.record_request(lease)  # a spider may copy a request
    crawl.now += 4.0
    crawl.crawl.leasing.record_request(lease)
    assert crawl.crawl.leasing.next_due(crawl.now) == 1.0


YEAR_S = 365 * 86_400.0


@pytest.mark.parametrize(
    ("is_killed", "resumed_s", "due_s"),
    [
        *((False, *times) for times in ((7.0, 8.0), (100.0, 0.0), (-YEAR_S, 10.0))),
        *((True, resumed_s, 10.0) for resumed_s in (0.5, 3600.0, -YEAR_S)),  # the last request is not known
    ],
)
def test_delay_of_a_site_holds_over_a_restart(opened, is_killed, resumed_s, due_s):
    crawl = opened(SITE_DELAY_SECONDS=10.0)
    crawl.end(crawl.lease(), "/a")
    crawl.now += 5.0
    crawl.kill() if is_killed else crawl.close(reason="stop_file")
    again = opened(SITE_DELAY_SECONDS=10.0, now=NOW + resumed_s)
    assert again.crawl.leasing.next_due(again.now) == due_s
    assert (again.crawl.leasing.next(again.now) is None) == (due_s > 0.0)


def test_links_to_an_address_that_a_site_has_got_since_are_asked_of_the_policy(opened, policy):
    crawl = opened()
    link = target(f"{OTHER}/a")
    crawl.end(crawl.lease(), "/b", external=[(ExternalLink(link.url, link.key, OTHER, "", "", "", "", "a"), 1)])
    crawl.close(reason="shutdown")
    policy.refused = {f"{OTHER}/a"}
    again = opened({"sites": [SiteLimits(SITE, aliases=(OTHER,))]})
    assert again.pages()["/a/"] == (State.REJECTED, "extension x")


# Certificates


def test_bad_certificate_of_an_address_is_stored_once_and_outweighs_good_ones(opened):
    alias = "https://www.a.test"
    crawl = opened({"sites": [SiteLimits(SITE, aliases=(alias,)), SiteLimits(OTHER)]})
    found = {SITE: None, alias: "certificate_expired", OTHER: "certificate_self_signed", "https://x.test": "other"}
    checked = []

    def problem_of(address):
        return lambda: checked.append(address) or found[address]

    for address in (OTHER, SITE, alias, SITE, "https://x.test", OTHER):
        crawl.crawl.answers.certificate_received(address, problem_of(address))
    assert checked == [OTHER, SITE, alias]
    rows = "SELECT site, certificate FROM site ORDER BY site"
    assert crawl.rows(rows) == [(SITE, "certificate_expired"), (OTHER, "certificate_self_signed")]
    crawl.close(reason="shutdown")
    later = opened({"sites": [SiteLimits(SITE, aliases=(alias,)), SiteLimits(OTHER)]})
    later.crawl.answers.certificate_received(OTHER, lambda: None)  # it was renewed
    assert later.rows(rows) == [(SITE, "certificate_expired"), (OTHER, None)]


# The event loop


async def crawled(crawl):
    """Crawl all pages in an event loop; return their paths in order."""
    paths = []
    while crawl.crawl.leasing.has_pending:
        lease = crawl.crawl.leasing.next(crawl.now)
        if lease is None:
            await asyncio.sleep(0.001)
            crawl.now += 0.01
        else:
            paths.append(lease.url.removeprefix(SITE))
            crawl.end(lease, *(f"/{number:02}" for number in range(60) if lease.level == 0))
    return paths


def test_queue_is_refilled_without_a_wait_for_the_writer_in_the_event_loop(opened, monkeypatch):
    crawl = opened(FRONTIER_CACHE_URLS=1200, STORE_BATCH_SECONDS=3600.0)
    monkeypatch.setattr(crawl.crawl.session.writer, "wait_for", pytest.fail)
    assert asyncio.run(crawled(crawl)) == ["/", *(f"/{number:02}" for number in range(60))]
    monkeypatch.undo()


def test_what_must_be_looked_up_for_a_url_is_read_in_another_thread(opened, monkeypatch):
    crawl, threads = opened(), []

    def verdict(lease):
        def query():
            threads.append(threading.current_thread().name)
            return lambda: monkeypatch.setattr(crawl.crawl.traps, "verdict", lambda lease: None)

        return query

    monkeypatch.setattr(crawl.crawl.traps, "verdict", verdict)
    assert asyncio.run(crawled(crawl))[:2] == ["/", "/00"]
    assert [name.rpartition("_")[0] for name in threads] == ["store-reader"]
    assert crawl.crawl.control.failure is None


def test_look_up_that_fails_ends_the_crawl(opened, monkeypatch):
    crawl = opened()
    monkeypatch.setattr(crawl.crawl.traps, "verdict", lambda lease: lambda: 1 / 0)
    asyncio.run(crawled(crawl))
    assert "a look-up failed: ZeroDivisionError" in str(crawl.crawl.control.failure)
