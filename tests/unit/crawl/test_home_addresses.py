"""A home page that redirects within its domain gives its site another address."""

import logging

import pytest

from crawlers.items import REDIRECT, ExternalLink, Page, SiteLimits, State
from crawlers.urls.addresses import SiteAddresses
from crawlers.urls.scope import Scope
from tests.support.opened_crawl import NOW, target

SITE, HTTPS, WWW = "http://a.example", "https://a.example", "https://www.a.example"


@pytest.fixture
def opened(begin):
    def open_crawl(*sites, **mission):
        given = {"sites": sites or [SiteLimits(SITE)], "addresses": SiteAddresses(), **mission}
        return begin(None, given, ROBOTSTXT_OBEY=True)

    return open_crawl


def lease(crawl):
    """Return the next lease; every robots.txt is missing."""
    while not hasattr(following := crawl.crawl.leasing.next(crawl.now), "url"):
        assert following is not None
        crawl.crawl.answers.record_robots(following.site_id, 404, None)
    return following


def moved(crawl, leased, to):
    """Record that the leased page redirects to another site."""
    there = target(to)
    link = ExternalLink(there.url, there.key, there.site, "", "", "", "", REDIRECT)
    reason = f"redirect_to_other_site {to}"
    return crawl.end(leased, state=State.REFUSED, status=301, reason=reason, external=[(link, 1)])


def read(crawl, leased, *links):
    """Record a page with links to addresses of its site."""
    page = Page(leased.id, leased.url, leased.level, State.DONE, 200, links=[(link, 1) for link in links])
    crawl.crawl.recording.record(page)


def test_site_is_crawled_at_the_address_even_after_a_kill(opened, caplog):
    caplog.set_level(logging.INFO)
    crawl = opened()
    assert moved(crawl, lease(crawl), f"{HTTPS}/").state is State.WAITING
    second = lease(crawl)
    assert second.url == f"{HTTPS}/"
    moved(crawl, second, f"{WWW}/")
    assert crawl.rows("SELECT home_addresses FROM site") == [(f"{HTTPS} {WWW}",)]
    crawl.kill()

    again = opened()
    home = lease(again)
    assert (home.url, home.hops) in {(f"{WWW}/", 2), (f"{SITE}/", 0)}
    if home.url != f"{WWW}/":
        moved(again, home, f"{WWW}/")
        home = lease(again)
    again.end(home)
    assert again.rows("SELECT url, level, state FROM page") == [(f"{WWW}/", 0, int(State.DONE))]
    assert again.rows("SELECT home_addresses, availability FROM site") == [(f"{HTTPS} {WWW}", None)]
    again.close()


@pytest.mark.parametrize("to", ["https://b.example/", "https://a.example.com/", "http://1.2.3.4/"])
def test_redirect_to_another_domain_is_not_followed(opened, to):
    crawl = opened()
    assert moved(crawl, lease(crawl), to).state is State.REFUSED
    assert crawl.rows("SELECT home_addresses, availability FROM site") == [(None, f"redirect_to_other_site {to}")]


@pytest.mark.parametrize(
    "other", [SiteLimits(WWW), SiteLimits("http://b.example", aliases=(WWW,)), SiteLimits("http://b.example")]
)
def test_address_of_another_listed_site_is_not_taken(opened, other):
    crawl = opened(SiteLimits(SITE), other)
    found = lease(crawl)
    while found.url != f"{SITE}/":
        crawl.end(found)
        found = lease(crawl)
    page = moved(crawl, found, f"{WWW}/")
    is_free = WWW not in (other.site, *other.aliases)
    assert page.state is (State.WAITING if is_free else State.REFUSED)


def test_address_that_the_list_names_later_is_that_of_a_site_of_its_own(opened):
    crawl = opened()
    moved(crawl, lease(crawl), f"{WWW}/")
    read(crawl, lease(crawl), _own(crawl, f"{WWW}/x/"))
    crawl.kill()

    again = opened(SiteLimits(SITE), SiteLimits(WWW))
    urls = []
    while (found := again.crawl.leasing.next(again.now)) is not None:
        if hasattr(found, "url"):
            urls.append(found.url)
            again.end(found)
        else:
            again.crawl.answers.record_robots(found.site_id, 404, None)
        again.now += 60.0
    assert urls == [f"{WWW}/"]  # of the new site
    reason = f"other_address {WWW} {SITE}"
    assert again.rows(f"SELECT reason FROM page WHERE url = '{WWW}/x/'") == [(reason,)]


def _own(crawl, url):
    addresses = SiteAddresses()
    row = crawl.crawl.sites.rows[crawl.crawl.session.row.sites[0].id]
    addresses.set(row.site, row.addresses, row.address)
    return addresses.of_site(target(url))


def test_page_on_a_deeper_level_gives_no_address(opened):
    crawl = opened()
    read(crawl, lease(crawl), target(f"{SITE}/x/"))
    crawl.now += 60.0
    assert moved(crawl, lease(crawl), f"{HTTPS}/x/").state is State.REFUSED
    assert crawl.rows("SELECT home_addresses FROM site") == [(None,)]


def test_address_in_the_scope_of_the_crawl_is_another_site(opened):
    crawl = opened(scope=Scope("all", [SITE]))
    crawl.end(lease(crawl), state=State.MOVED, status=301, moved_to=target(f"{WWW}/"))
    assert crawl.rows("SELECT site, home_addresses FROM site ORDER BY id") == [(SITE, None), (WWW, None)]


def test_start_page_that_redirects_out_of_its_folder_is_fetched_with_a_warning(opened, caplog):
    crawl = opened(SiteLimits(SITE, start_url=f"{SITE}/docs/", folder="/docs/"))
    crawl.end(lease(crawl), state=State.MOVED, status=301, moved_to=target(f"{SITE}/manual/"))
    assert f"{SITE}/docs/ redirects to {SITE}/manual/, which is not in the folder of the site" in caplog.text
    crawl.now += 60.0
    assert lease(crawl).url == f"{SITE}/manual/"


def test_crawl_delay_and_rules_of_each_address_are_obeyed(opened):
    crawl = opened(SiteLimits(SITE, delay_s=0.0, aliases=(WWW,)))
    needed = crawl.robots()
    assert needed.address == SITE
    crawl.crawl.answers.record_robots(needed.site_id, 200, "User-agent: *\nDisallow: /x/")
    read(crawl, crawl.lease(), *(_own(crawl, url) for url in (f"{WWW}/x/", f"{WWW}/y/", f"{SITE}/x/z/")))
    needed = crawl.robots()
    assert needed.address == WWW
    crawl.crawl.answers.record_robots(needed.site_id, 200, "User-agent: *\nDisallow: /y/\nCrawl-delay: 7")
    crawl.now = NOW + 7.0
    assert crawl.lease().url == f"{WWW}/x/"
    assert crawl.crawl.leasing.next(crawl.now) is None
    assert crawl.crawl.leasing.next_due(crawl.now) == pytest.approx(7.0)
    crawl.now = NOW + 14.0
    assert crawl.crawl.leasing.next(crawl.now) is None
    rejected = crawl.rows("SELECT url, reason FROM page WHERE state = 5 ORDER BY url")
    assert rejected == [(url, "robots_disallows") for url in (f"{SITE}/x/z/", f"{WWW}/y/")]
    assert crawl.rows("SELECT robots_text FROM site") == [("User-agent: *\nDisallow: /x/",)]
