"""A crawl hands out leases and stores pages."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import text

from crawlers.algorithms.ranking.page_orders import MAX_HOPS
from crawlers.algorithms.robots_groups import UNREACHABLE
from crawlers.algorithms.slices import SLICE_LINKS
from crawlers.algorithms.urls.scope import Scope
from crawlers.crawl import running_crawl
from crawlers.errors import FrontierError
from crawlers.frontier.politeness import FIRST_REST_S, MAX_REST_S
from crawlers.frontier.protocols import Candidate, Decision
from crawlers.items import ExternalLink, Page, SiteLimits, State
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.schema.message_tables import Message
from crawlers.storage.schema.tables import FoundSite, NewPage, SiteRobots
from tests.support.opened_crawl import NOW, SITE, target

OTHER = "http://b.test"


# The next URL


def test_start_pages_and_roots_are_leased_first(opened):
    crawl = opened({"sites": [SiteLimits(SITE, start_url=f"{SITE}/ru/")], "roots": [f"{SITE}/map"]})
    assert [crawl.lease().url, crawl.lease().url] == [f"{SITE}/ru/", f"{SITE}/map"]
    assert crawl.crawl.next(NOW) is None


def test_robots_txt_of_a_site_is_needed_once_before_its_first_page(opened):
    crawl = opened(ROBOTSTXT_OBEY=True)
    needed = crawl.robots()
    assert needed.address == SITE
    assert crawl.crawl.next(NOW) is None
    crawl.crawl.robots_known(needed.site_id, 200, "")
    crawl.end(crawl.lease(), "/a")
    assert crawl.lease().url == f"{SITE}/a"


def test_other_sites_do_not_wait_for_a_robots_txt(opened):
    crawl = opened({"sites": [SiteLimits(SITE), SiteLimits(OTHER)]}, ROBOTSTXT_OBEY=True)
    first, second = crawl.robots(), crawl.robots()
    crawl.crawl.robots_known(second.site_id, 404, None)
    assert crawl.lease().site_id == second.site_id != first.site_id


def test_robots_txt_is_stored_and_obeyed(opened):
    crawl = opened(ROBOTSTXT_OBEY=True)
    text = "User-agent: *\nDisallow: /secret\nCrawl-delay: 3"
    crawl.crawl.robots_known(crawl.robots().site_id, 200, text)
    assert crawl.crawl.next(NOW) is None
    assert crawl.crawl.next_due(NOW) == 3.0
    crawl.now += 3.0
    crawl.end(crawl.lease(), "/secret")
    assert crawl.crawl.next_due(crawl.now) == 3.0
    crawl.now += 3.0
    assert crawl.crawl.next(crawl.now) is None
    assert crawl.pages()["/secret"] == (State.REJECTED, "robots.txt disallows it")
    assert crawl.rows("SELECT robots_status, robots_text, robots_at FROM site") == [(200, text, NOW)]


def test_urls_that_the_policy_finds_in_robots_txt_are_queued(opened):
    crawl = opened(ROBOTSTXT_OBEY=True)
    text = "Sitemap: /map"
    crawl.crawl.robots_known(crawl.robots().site_id, 200, text)
    assert {crawl.lease().url, crawl.lease().url} == {f"{SITE}/", f"{SITE}/map"}


def test_robots_txt_that_stays_inaccessible_is_needed_again_later(opened):
    crawl = opened(ROBOTSTXT_OBEY=True, ROBOTS_MAX_REST_SECONDS=7200.0)
    crawl.crawl.robots_known(crawl.robots().site_id, UNREACHABLE, "timeout")
    assert crawl.crawl.next(NOW) is None
    assert crawl.pages()["/"] == (State.REJECTED, "timeout (requested for robots.txt)")
    crawl.now += 7199.0
    crawl.crawl.frontier.add([Candidate(1, target("/a"))], crawl.now)
    assert crawl.crawl.next(crawl.now) is None
    crawl.now += 1.0
    crawl.crawl.frontier.add([Candidate(1, target("/b"))], crawl.now)
    assert crawl.robots().address == SITE
    assert crawl.pages()["/a"][0] is State.REJECTED


def test_urls_of_a_site_wait_while_its_robots_txt_is_inaccessible(opened):
    crawl = opened({"sites": [SiteLimits(SITE), SiteLimits(OTHER)]}, ROBOTSTXT_OBEY=True)
    first, second = crawl.robots(), crawl.robots()
    crawl.crawl.robots_known(first.site_id, UNREACHABLE, "timeout", 300.0)
    crawl.crawl.robots_known(second.site_id, 503, None, 300.0)
    crawl.crawl.frontier.add([Candidate(first.site_id, target("/a"))], NOW)
    assert crawl.crawl.next(NOW + 300.0) is None
    assert crawl.crawl.has_pending
    assert set(state for state, _ in crawl.pages().values()) == {State.WAITING}
    assert crawl.rows("SELECT robots_status, robots_text FROM site") == [(UNREACHABLE, "timeout"), (503, None)]
    assert crawl.stats["robots/rests"] == 2
    crawl.crawl.robots_known(first.site_id, 404, None)
    assert [crawl.lease().url, crawl.lease().url] == [f"{SITE}/", f"{SITE}/a"]


def test_crawl_with_a_budget_waits_for_the_robots_txt_of_a_site_but_not_while_it_rests(opened):
    sites = {"sites": [SiteLimits(SITE), SiteLimits(OTHER)], "page_budget": 9, "counts_rewards": True}
    crawl = opened(sites, ROBOTSTXT_OBEY=True, RULE="auto")
    first, second = crawl.robots(), crawl.robots()
    crawl.crawl.robots_known(first.site_id, 404, None)
    found = ExternalLink("http://c.test/", 1, "http://c.test", "", "", "", "", "a")
    crawl.end(crawl.lease(), "/a", external=((found, 1),))
    assert crawl.crawl.next(NOW) is None, "the other site may be better"
    crawl.crawl.robots_known(second.site_id, UNREACHABLE, "timeout", 300.0)
    assert crawl.lease().url == f"{SITE}/a"


def test_crawl_waits_for_robots_txt_only_when_nothing_else_can_be_fetched(opened, policy):
    crawl = opened({"sites": [SiteLimits(SITE), SiteLimits(OTHER, delay_s=9.0)]}, ROBOTSTXT_OBEY=True)
    first, second = crawl.robots(), crawl.robots()
    assert crawl.crawl.waits_for_robots(NOW)
    crawl.crawl.robots_known(second.site_id, 404, None)
    crawl.crawl.robots_known(first.site_id, UNREACHABLE, "timeout", 300.0)
    assert not crawl.crawl.waits_for_robots(NOW), "a page will be fetched"
    crawl.now += 9.0
    lease = crawl.lease()
    assert not crawl.crawl.waits_for_robots(crawl.now), "a page is being fetched"
    crawl.fail(lease)
    assert not crawl.crawl.waits_for_robots(crawl.now), "it will be tried again"
    crawl.now += 9.0
    crawl.end(crawl.lease())
    assert crawl.crawl.waits_for_robots(crawl.now)
    policy.ready = False
    assert not crawl.crawl.waits_for_robots(crawl.now), "the policy waits for something else"


@pytest.mark.parametrize("is_once", [False, True])
def test_crawl_does_not_wait_for_robots_txt_while_the_policy_queues_pages(opened, policy, is_once):
    crawl = opened({"sites": [SiteLimits(SITE), SiteLimits(OTHER)]}, ROBOTSTXT_OBEY=True, NEWS_ONCE=is_once)
    for needed in (crawl.robots(), crawl.robots()):
        crawl.crawl.robots_known(needed.site_id, UNREACHABLE, "timeout", 300.0)
    assert crawl.crawl.waits_for_robots(crawl.now)
    policy.queueing = True
    assert not crawl.crawl.waits_for_robots(crawl.now)
    policy.queueing = False
    assert crawl.crawl.waits_for_robots(crawl.now)


def test_pages_that_the_policy_skips_are_stored_with_the_reason(opened, policy):
    crawl = opened()
    policy.skipped = {"/a"}
    crawl.end(crawl.lease(), "/a", "/b")
    assert crawl.lease().url == f"{SITE}/b"
    assert crawl.pages()["/a"] == (State.REJECTED, "skipped")


def test_one_call_rejects_a_bounded_number_of_urls(opened, policy, monkeypatch):
    monkeypatch.setattr(running_crawl, "MAX_REJECTED", 2)
    crawl = opened()
    policy.skipped = {"/a", "/b", "/c"}
    crawl.end(crawl.lease(), "/a", "/b", "/c", "/d")
    assert crawl.crawl.next(NOW) is None
    assert crawl.crawl.next_due(NOW) == 0.0
    assert crawl.lease().url == f"{SITE}/d"


def test_nothing_is_requested_before_the_policy_is_ready(opened, policy):
    policy.ready = False
    crawl = opened()
    assert (crawl.crawl.next(NOW), crawl.crawl.next_due(NOW)) == (None, None)
    policy.ready = True
    crawl.crawl.resume()
    assert crawl.wakes == 1
    assert crawl.crawl.next_due(NOW) == 0.0
    assert crawl.lease().url == f"{SITE}/"


@pytest.mark.parametrize("is_foreign", [False, True])
def test_concurrent_requests_bound_the_leases_of_missions(opened, is_foreign):
    crawl = opened({"is_foreign": is_foreign}, CONCURRENT_REQUESTS=2, SITE_PARALLEL=9)
    crawl.crawl.frontier.add([Candidate(1, target(f"/{n}")) for n in range(9)], NOW)
    crawl.end(crawl.lease())
    crawl.lease()
    assert (crawl.crawl.next(NOW, in_flight=1) is None) is not is_foreign
    assert (crawl.crawl.next_due(NOW, in_flight=1) is None) is not is_foreign
    crawl.lease()
    assert (crawl.crawl.next(NOW) is None) is not is_foreign


def test_pages_that_are_rejected_in_flight_leave_room_for_other_sites(opened):
    sites = [SiteLimits(f"http://{name}.test") for name in "abcde"]
    crawl = opened({"sites": sites}, CONCURRENT_REQUESTS=2)
    for _ in sites:
        lease = crawl.lease()
        crawl.crawl.record(Page(lease.id, lease.url, lease.level, State.REJECTED, reason="a private address"))
    assert not crawl.crawl.frontier.is_waiting


def test_next_url_is_due_after_the_delay_of_the_site(opened):
    crawl = opened(SITE_DELAY_SECONDS=5.0)
    crawl.end(crawl.lease(), "/a")
    assert crawl.crawl.next(NOW) is None
    assert crawl.crawl.next_due(NOW) == 5.0
    crawl.now += 5.0
    assert crawl.lease().url == f"{SITE}/a"


def test_delay_of_a_site_counts_from_the_time_at_which_its_request_was_sent(opened):
    crawl = opened(SITE_DELAY_SECONDS=5.0)
    lease = crawl.lease()
    crawl.now += 3.0
    crawl.crawl.sent(lease)
    crawl.end(lease, "/a")
    assert crawl.crawl.next_due(crawl.now) == 5.0
    crawl.crawl.sent(lease)  # a spider may copy a request
    crawl.now += 4.0
    crawl.crawl.sent(lease)
    assert crawl.crawl.next_due(crawl.now) == 1.0


# Results


def test_page_is_stored_and_its_links_wait(opened):
    crawl = opened()
    page = crawl.end(crawl.lease(), "/a", "/a.pdf", title="Home")
    assert page.title == "Home"
    assert crawl.pages() == {
        "/": (State.DONE, ""),
        "/a": (State.WAITING, ""),
        "/a.pdf": (State.REJECTED, "extension pdf"),
    }
    assert crawl.stats == {"pages/done": 1, "pages/found": 2}
    assert crawl.lease().level == 1


def test_page_with_many_links_is_stored_while_others_run(opened):
    crawl = opened()
    crawl.end(crawl.lease(), "/a", "/b")
    many, other = crawl.lease(), crawl.lease()
    links = [(target(f"/{number}"), 1) for number in range(3 * SLICE_LINKS)]
    crawl.crawl.session.writer.flush()
    counts = []

    async def others():
        while crawl.crawl.frontier.leased(many.id) is not None:
            with crawl.crawl.session.database.read() as connection:
                counts.append(connection.execute(text("SELECT count(*) FROM page")).scalar())
            await asyncio.sleep(0)

    async def record():
        page = Page(many.id, many.url, many.level, State.DONE, 200, links=links)
        _, stored = await asyncio.gather(others(), crawl.crawl.record_in_slices(page))
        return stored

    assert asyncio.run(record()).links == links
    crawl.end(other)
    assert set(counts) == {3}, "its links and its end are one transaction"
    assert len(counts) >= 3
    assert len(crawl.pages()) == 3 + len(links)
    assert crawl.stats == {"pages/done": 3, "pages/found": 2 + len(links)}
    assert crawl.crawl.failure is None


def test_page_with_many_links_is_not_stored_after_a_failure_between_two_slices(opened):
    crawl = opened()
    lease = crawl.lease()
    links = [(target(f"/{number}"), 1) for number in range(3 * SLICE_LINKS)]

    async def fail():
        await asyncio.sleep(0)
        crawl.crawl.abort(FrontierError("a bug"))

    async def record():
        page = Page(lease.id, lease.url, lease.level, State.DONE, 200, links=links)
        await asyncio.gather(crawl.crawl.record_in_slices(page), fail())

    asyncio.run(record())
    assert crawl.pages() == {"/": (State.WAITING, "")}


def test_page_is_stored_as_the_policy_changed_it(opened, policy):
    crawl = opened()
    policy.decides = lambda page: Decision(replace(page, title="By the policy"))
    assert crawl.end(crawl.lease(), title="By the page").title == "By the policy"
    assert crawl.rows("SELECT title FROM page") == [("By the policy",)]


def test_rows_of_the_policy_are_committed_with_the_page(opened, policy):
    crawl = opened()
    rows = ChangeSet(SiteRobots(1, 200, "by the policy", NOW))
    policy.decides = lambda page: Decision(page, changes=rows)
    crawl.end(crawl.lease())
    assert crawl.rows("SELECT robots_text FROM site") == [("by the policy",)]


def test_sites_to_which_a_page_leads_are_opened(opened):
    crawl = opened()
    link = target("/a")._replace(url=f"{OTHER}/a", normalized=f"{OTHER}/a", key=7, site=OTHER)
    crawl.end(crawl.lease(), cross_site_links=[(link, 1)])
    assert crawl.lease().url == f"{OTHER}/a"
    assert crawl.rows("SELECT site FROM site ORDER BY id") == [(SITE,), (OTHER,)]


def test_links_to_more_sites_than_allowed_are_external(opened):
    crawl = opened(SCOPE_MAX_SITES=1)
    link = target("/a")._replace(url=f"{OTHER}/a", normalized=f"{OTHER}/a", key=7, site=OTHER)
    page = crawl.end(crawl.lease(), cross_site_links=[(link, 1)])
    assert (page.cross_site_links, [link.url for link, _ in page.external]) == ([], [f"{OTHER}/a"])
    assert crawl.rows("SELECT url FROM external_url") == [(f"{OTHER}/a",)]


@pytest.mark.parametrize("is_divided", [False, True], ids=["alone", "with others"])
@pytest.mark.parametrize("finds", ["link", "sitemap"])
def test_new_site_is_stored_together_with_its_first_page(opened, policy, monkeypatch, finds, is_divided):
    mission = {"scope": Scope("all", [SITE]), "can_be_shared": True}
    monkeypatch.setattr(policy, "found_by_robots", lambda text: [f"{OTHER}/sitemap.xml"])
    crawl = opened(mission, ROBOTSTXT_OBEY=finds == "sitemap")
    crawl.crawl.session.members.is_divided = is_divided
    writer, submitted = crawl.crawl.session.writer, []
    monkeypatch.setattr(writer, "submit", submitted.append)
    if finds == "link":
        link = target("/a")._replace(url=f"{OTHER}/a", normalized=f"{OTHER}/a", key=7, site=OTHER)
        crawl.end(crawl.lease(), cross_site_links=[(link, 1)])
    else:
        crawl.crawl.robots_known(crawl.robots().site_id, 200, "Sitemap:")
    monkeypatch.undo()
    (changes,) = [changes for changes in submitted if changes[FoundSite]]
    assert [row.site for row in changes[FoundSite]] == [OTHER]
    assert len(changes[Message] if is_divided else changes[NewPage]) == 1
    assert len(changes[SiteRobots]) == (finds == "sitemap")


@pytest.mark.parametrize("is_divided", [False, True], ids=["alone", "with others"])
def test_redirect_that_is_one_too_many_adds_no_site(opened, is_divided):
    crawl = opened({"scope": Scope("all", [SITE]), "can_be_shared": True})
    crawl.crawl.session.members.is_divided = is_divided
    crawl.end(crawl.lease(), "/0")
    for hop in range(1, MAX_HOPS + 1):
        crawl.end(crawl.lease(), state=State.MOVED, status=301, moved_to=target(f"/{hop}"))
    page = crawl.end(crawl.lease(), state=State.MOVED, status=301, moved_to=target(f"{OTHER}/"))
    assert (page.state, page.reason, page.moved_to) == (State.FAILED, "more than 20 redirects", None)
    assert crawl.pages()["/20"] == (State.FAILED, "more than 20 redirects")
    assert crawl.rows("SELECT site FROM site") == [(SITE,)], "nobody would know how to begin with the other one"


@pytest.mark.parametrize("is_divided", [False, True], ids=["alone", "with others"])
def test_unchanged_page_adds_no_site(opened, policy, is_divided):
    policy.decides = lambda page: Decision(page, revisit_at=NOW + 60.0)
    seen = {"cross_site_links": [(target(f"{OTHER}/"), 1)], "content_hash": b"same"}
    mission = {"scope": Scope("all", [SITE]), "can_be_shared": True}
    crawl = opened(mission, ORDER="aopic", SCOPE_MAX_SITES=1)
    crawl.end(crawl.lease(), **seen)
    crawl.close(reason="shutdown")
    crawl = opened(mission, ORDER="aopic", SCOPE_MAX_SITES=2)
    crawl.crawl.session.members.is_divided = is_divided
    crawl.now += 60.0
    lease = crawl.lease()
    assert lease.is_revisit
    page = crawl.end(lease, **seen)
    assert (page.cross_site_links, [link.url for link, _ in page.external]) == ([], [f"{OTHER}/"])
    assert crawl.rows("SELECT site FROM site") == [(SITE,)], "nobody would know how to begin with the other one"


def test_reward_of_a_page_is_counted(opened):
    crawl = opened({"counts_rewards": True})
    external = [(ExternalLink(f"{OTHER}/{n}", n, OTHER, "", "", "", "", "a"), 1) for n in range(3)]
    crawl.end(crawl.lease(), external=external)
    assert crawl.stats["harvest/reward"] == 3


def test_page_without_an_open_lease_is_ignored(opened):
    crawl = opened()
    lease = crawl.lease()
    unknown = Page(lease.id + 1, f"{SITE}/x", 1, State.DONE, 200)
    assert crawl.crawl.record(unknown) is unknown
    crawl.end(lease, title="first")
    crawl.end(lease, title="second")
    assert crawl.rows("SELECT url, title FROM page") == [(f"{SITE}/", "first")]
    assert crawl.stats == {"pages/done": 1}


# Retries


def test_transient_failure_is_retried_after_the_backoff_until_the_attempts_are_used_up(opened):
    crawl = opened(RETRY_TIMES=2, RETRY_BACKOFF_SECONDS=1.0)
    for delay_s in (1.0, 2.0):
        crawl.fail(crawl.lease())
        assert crawl.pages()["/"] == (State.WAITING, "timeout")
        assert crawl.crawl.next(crawl.now) is None
        assert crawl.crawl.next_due(crawl.now) == delay_s
        crawl.now += delay_s
    page = crawl.fail(crawl.lease())
    assert (page.state, page.reason) == (State.FAILED, "timeout, 3 attempts")
    assert crawl.pages()["/"] == (State.FAILED, "timeout, 3 attempts")
    assert crawl.stats == {"pages/retried": 2, "pages/failed": 1, "errors/timeout": 3}


def test_permanent_failure_is_not_retried(opened):
    crawl = opened()
    crawl.end(crawl.lease(), state=State.FAILED, status=0, reason="the spider failed")
    assert crawl.pages()["/"] == (State.FAILED, "the spider failed")


def test_status_of_a_missing_page_is_not_retried_and_that_of_a_broken_server_is(opened):
    crawl = opened(RETRY_TIMES=2)
    crawl.end(crawl.lease(), "/404", "/500")
    for status in (404, 500):
        crawl.end(crawl.lease(), state=State.REFUSED, status=status, reason=f"status {status}")
    pages = crawl.pages()
    assert (pages["/404"][0], pages["/500"][0]) == (State.REFUSED, State.WAITING)


def test_host_that_refuses_rests_as_long_as_it_demands(opened):
    crawl = opened(RETRY_BACKOFF_SECONDS=1.0)
    crawl.end(crawl.lease(), "/a", "/b")
    crawl.end(crawl.lease(), state=State.REFUSED, status=429, reason="status 429", retry_after_s=60.0)
    assert crawl.crawl.next(NOW) is None
    assert crawl.crawl.next_due(NOW) == 60.0


YEAR_S = 365 * 86_400.0


@pytest.mark.parametrize(
    ("stopped_s", "resumed_s", "due_s"), [(5.0, 7.0, 8.0), (5.0, 100.0, None), (5.0, -YEAR_S, 10.0)]
)
def test_delay_of_a_site_holds_over_a_restart(opened, stopped_s, resumed_s, due_s):
    crawl = opened(SITE_DELAY_SECONDS=10.0)
    crawl.end(crawl.lease(), "/a")
    crawl.now += stopped_s
    crawl.close(reason="stop_file")
    again = opened(SITE_DELAY_SECONDS=10.0, now=NOW + resumed_s)
    if due_s is None:
        assert again.lease().url == f"{SITE}/a"
    else:
        assert again.crawl.next(again.now) is None
        assert again.crawl.next_due(again.now) == due_s


@pytest.mark.parametrize("resumed_s", [0.5, 3600.0, -YEAR_S])
def test_delay_of_a_site_holds_after_a_kill_whose_last_request_is_not_known(opened, resumed_s):
    crawl = opened(SITE_DELAY_SECONDS=10.0)
    crawl.end(crawl.lease(), "/a")
    crawl.kill()
    again = opened(SITE_DELAY_SECONDS=10.0, now=NOW + resumed_s)
    assert again.crawl.next(again.now) is None
    assert again.crawl.next_due(again.now) == 10.0


@pytest.mark.parametrize(("resumed_s", "due_s"), [(1.0, 59.0), (61.0, 0.0), (-YEAR_S, MAX_REST_S)])
def test_rest_that_a_host_demands_holds_over_a_kill(opened, resumed_s, due_s):
    crawl = opened()
    crawl.end(crawl.lease(), state=State.REFUSED, status=429, reason="status 429", retry_after_s=60.0)
    crawl.kill()
    again = opened(now=NOW + resumed_s)
    assert again.crawl.next_due(again.now) == due_s
    again.now += due_s
    assert again.lease().url == f"{SITE}/"


def test_rest_of_a_host_grows_with_its_refusals_until_a_good_response(opened):
    crawl = opened()
    rests_s = []
    for status in (503, 503, 200, 503):
        if status == 200:
            crawl.end(crawl.lease(), "/a")
        else:
            crawl.end(crawl.lease(), state=State.REFUSED, status=status, reason=f"status {status}")
            rests_s.append(crawl.crawl.next_due(crawl.now))
        crawl.now += 60.0
    assert rests_s == [FIRST_REST_S, 2 * FIRST_REST_S, FIRST_REST_S]


def test_requests_of_foreign_spiders_are_left_to_the_retries_of_scrapy(opened):
    crawl = opened({"is_foreign": True, "sites": ()})
    site_id = crawl.crawl.sites.id_of(SITE, NOW, ChangeSet())
    assert crawl.crawl.frontier.add([Candidate(site_id, target("/"), request="{}")], NOW) == 1
    crawl.fail(crawl.lease())
    assert crawl.pages()["/"] == (State.FAILED, "timeout")
