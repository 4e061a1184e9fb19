"""Pages are stored with what the policy decides, and their leases end."""

import pytest

from crawlers.frontier.politeness import MAX_REST_S
from crawlers.frontier.values import Candidate, Decision
from crawlers.items import Page, State
from crawlers.ranking.page_orders import MAX_HOPS
from crawlers.store.schema.message_rows import Message
from crawlers.store.schema.tables import DiscoveredSite, NewPage, SiteRobots
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.scope import Scope
from tests.support.opened_crawl import NOW, SITE, target

OTHER = "http://b.test"


def test_page_is_stored_and_its_links_wait(opened):
    crawl = opened()
    assert crawl.end(crawl.lease(), "/a", "/a.pdf", title="Home").title == "Home"
    assert crawl.pages() == {
        "/": (State.DONE, ""),
        "/a": (State.WAITING, ""),
        "/a.pdf": (State.REJECTED, "extension pdf"),
    }
    assert crawl.stats == {"pages/done": 1, "pages/found": 2}
    assert crawl.lease().level == 1


@pytest.mark.parametrize("is_divided", [False, True], ids=["alone", "with others"])
@pytest.mark.parametrize("finds", ["link", "sitemap"])
def test_new_site_is_stored_together_with_its_first_page(opened, policy, monkeypatch, finds, is_divided):
    mission = {"scope": Scope("all", [SITE])}
    monkeypatch.setattr(policy, "found_by_robots", lambda text: [f"{OTHER}/sitemap.xml"])
    crawl = opened(mission, ROBOTSTXT_OBEY=finds == "sitemap")
    if is_divided:
        crawl.share().is_divided = True
    writer, submitted = crawl.crawl.session.writer, []
    monkeypatch.setattr(writer, "submit", submitted.append)
    if finds == "link":
        link = target("/a")._replace(url=f"{OTHER}/a", normalized=f"{OTHER}/a", key=7, site=OTHER)
        crawl.end(crawl.lease(), cross_site_links=[(link, 1)])
    else:
        crawl.crawl.answers.record_robots(crawl.robots().site_id, 200, "Sitemap:")
    monkeypatch.undo()
    (changes,) = [changes for changes in submitted if changes[DiscoveredSite]]
    assert [row.site for row in changes[DiscoveredSite]] == [OTHER]
    assert len(changes[Message] if is_divided else changes[NewPage]) == 1
    assert len(changes[SiteRobots]) == (finds == "sitemap")


@pytest.mark.parametrize("is_divided", [False, True], ids=["alone", "with others"])
def test_redirect_that_is_one_too_many_adds_no_site(opened, is_divided):
    crawl = opened({"scope": Scope("all", [SITE])})
    if is_divided:
        crawl.share().is_divided = True
    crawl.end(crawl.lease(), "/0")
    for hop in range(1, MAX_HOPS + 1):
        crawl.end(crawl.lease(), state=State.MOVED, status=301, moved_to=target(f"/{hop}"))
    page = crawl.end(crawl.lease(), state=State.MOVED, status=301, moved_to=target(f"{OTHER}/"))
    assert (page.state, page.reason, page.moved_to) == (State.FAILED, "many_redirects 20", None)
    assert crawl.pages()["/20"] == (State.FAILED, "many_redirects 20")
    assert crawl.rows("SELECT site FROM site") == [(SITE,)], "nobody would know how to begin with the other one"


@pytest.mark.parametrize("is_divided", [False, True], ids=["alone", "with others"])
def test_unchanged_page_adds_no_site(opened, policy, is_divided, monkeypatch):
    policy.decides = lambda page: Decision(page, revisit_at=NOW + 60.0)
    seen = {"cross_site_links": [(target(f"{OTHER}/"), 1)], "content_hash": b"same"}
    mission = {"scope": Scope("all", [SITE]), "revisits": True}
    monkeypatch.setattr("crawlers.crawl.session.MOST_SITES", 1)
    crawl = opened(mission, ORDER="aopic")
    crawl.end(crawl.lease(), **seen)
    crawl.close(reason="shutdown")
    monkeypatch.setattr("crawlers.crawl.session.MOST_SITES", 2)
    crawl = opened(mission, ORDER="aopic")
    if is_divided:
        crawl.share().is_divided = True
    crawl.now += 60.0
    lease = crawl.lease()
    assert lease.is_revisit
    page = crawl.end(lease, **seen)
    assert (page.cross_site_links, [link.url for link, _ in page.external]) == ([], [f"{OTHER}/"])
    assert crawl.rows("SELECT site FROM site") == [(SITE,)], "nobody would know how to begin with the other one"


def test_page_without_an_open_lease_is_ignored(opened):
    crawl = opened()
    lease = crawl.lease()
    unknown = Page(lease.id + 1, f"{SITE}/x", 1, State.DONE, 200)
    assert crawl.crawl.recording.record(unknown) is unknown
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
        assert crawl.crawl.leasing.next(crawl.now) is None
        assert crawl.crawl.leasing.next_due(crawl.now) == delay_s
        crawl.now += delay_s
    crawl.fail(crawl.lease())
    assert crawl.pages()["/"] == (State.FAILED, "timeout")
    assert crawl.stats == {"pages/retried": 2, "pages/failed": 1, "errors/timeout": 3}


YEAR_S = 365 * 86_400.0


@pytest.mark.parametrize(("resumed_s", "due_s"), [(1.0, 59.0), (61.0, 0.0), (-YEAR_S, MAX_REST_S)])
def test_rest_that_a_host_demands_holds_over_a_kill(opened, resumed_s, due_s):
    crawl = opened()
    crawl.end(crawl.lease(), state=State.REFUSED, status=429, reason="status 429", retry_after_s=60.0)
    crawl.kill()
    again = opened(now=NOW + resumed_s)
    assert again.crawl.leasing.next_due(again.now) == due_s
    again.now += due_s
    assert again.lease().url == f"{SITE}/"


def test_requests_of_foreign_spiders_are_left_to_the_retries_of_scrapy(opened):
    crawl = opened({"is_foreign": True, "sites": ()})
    site_id = crawl.crawl.sites.id_of(SITE, NOW, ChangeSet())
    assert crawl.crawl.frontier.add([Candidate(site_id, target("/"), request="{}")], NOW) == 1
    crawl.fail(crawl.lease())
    assert crawl.pages()["/"] == (State.FAILED, "timeout")
