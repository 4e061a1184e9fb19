"""Links open the sites of the scope; links to other sites become external."""

from __future__ import annotations

import math
from collections import deque
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from crawlers.crawl.open_sites import Trials
from crawlers.items import Page, SiteLimits, State
from crawlers.store.sites.site_opening import SiteRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.resolution import resolve
from tests.support.opened_crawl import NOW, SITE
from tests.unit.conftest import open_sites


def sites_of(left_out, most):
    """Return the sites of a crawl, and the names of those that it opens."""
    opened = []

    def add_site(name, leaders, changes):
        assert name != left_out
        return SiteRow(len(opened) + 1, name, 1, None, 0.0, is_new=True)

    def open_site(state, now, start):
        opened.append(state.site)

    row, claims = SimpleNamespace(excluded=frozenset([left_out])), SimpleNamespace(is_divided=False)
    crawl = {"add_site": add_site, "row": row, "claims": claims, "most_sites": most}
    return open_sites(open_site, **crawl)[1], opened


def page(*names, moved_to=None):
    return Page(
        *(1, "http://a.test/", 0, State.MOVED if moved_to else State.DONE),
        cross_site_links=[(resolve(f"http://{name}.test/", "x"), 1) for name in names],
        moved_to=resolve(moved_to, "") if moved_to else None,
    )


def test_links_to_sites_that_the_list_omits_are_external():
    sites, opened = sites_of("http://gone.test", most=10)
    found = sites.open_cross_site(page("b", "gone", "b", "c"), 0.0, ChangeSet())
    assert opened == ["http://b.test", "http://c.test"]
    assert [target.site for target, _ in found.cross_site_links] == ["http://b.test", "http://b.test", "http://c.test"]
    assert [link.url for link, _ in found.external] == ["http://gone.test/x"]


def test_redirect_to_a_site_that_the_list_omits_is_refused():
    sites, opened = sites_of("http://gone.test", most=10)
    found = sites.open_cross_site(page(moved_to="http://gone.test/"), 0.0, ChangeSet())
    assert (opened, found.state, found.moved_to) == ([], State.REFUSED, None)
    assert found.reason == "redirect_to_other_site http://gone.test/"


def test_sites_that_the_list_omits_do_not_count_towards_the_limit():
    sites, opened = sites_of("http://gone.test", most=2)
    sites.open_cross_site(page("gone", "b", "c"), 0.0, ChangeSet())
    assert opened == ["http://b.test", "http://c.test"]


def test_start_pages_and_roots_are_leased_first(opened):
    crawl = opened({"sites": [SiteLimits(SITE, start_url=f"{SITE}/ru/")], "roots": [f"{SITE}/map"]})
    assert [crawl.lease().url, crawl.lease().url] == [f"{SITE}/ru/", f"{SITE}/map"]
    assert crawl.crawl.leasing.next(NOW) is None


def start(trials, site_id, page_id, robots=0):
    """Request a page if it is admitted, else let its site wait; return whether it was."""
    if trials.admits(site_id, robots):
        trials.record_request(site_id, page_id)
        return True
    trials.wait(site_id)
    return False


def test_half_of_the_downloads_are_of_sites_on_trial():
    trials = Trials(8)
    assert [start(trials, site, page_id=site) for site in range(6)] == [True] * 4 + [False] * 2
    assert trials.admit_waiting(0) == []
    trials.record_result(0, 0, responded=False)
    assert trials.admit_waiting(0) == [4]
    trials.record_result(1, 1, responded=True)
    trials.record_result(2, 2, responded=True)
    assert trials.admit_waiting(0) == [5]


def test_new_sites_of_a_plain_spider_are_admitted_together():
    trials = Trials(math.inf)
    assert [start(trials, site, page_id=site, robots=1) for site in range(2)] == [True, True]


def test_robots_txt_files_in_flight_leave_less_room():
    trials = Trials(8)
    assert [start(trials, site, site, robots=4) for site in range(3)] == [True, True, False]
    assert trials.admit_waiting(robots=4) == []
    assert trials.admit_waiting(robots=3) == [2]


def test_site_that_responds_is_not_limited_until_it_does_not():
    trials = Trials(8)
    assert start(trials, 1, 1)
    trials.record_result(1, 1, responded=True)
    assert all(start(trials, 1, page) for page in range(2, 9))
    trials.record_result(1, 2, responded=False)
    assert [start(trials, 1, page) for page in range(9, 14)] == [True] * 4 + [False]


def test_site_on_trial_has_one_page_at_a_time_while_others_wait():
    trials = Trials(6)
    assert all(start(trials, site, page) for site, page in [(1, 1), (1, 2), (2, 3)])
    assert not start(trials, 3, 4)
    assert not start(trials, 4, 5)
    trials.record_result(1, 1, responded=False)
    assert not start(trials, 1, 6)
    assert trials.admit_waiting(0) == [3]


def test_page_that_is_rejected_in_flight_makes_room_and_says_nothing_about_its_site():
    trials = Trials(2)
    assert start(trials, 1, 1)
    trials.record_result(1, 1, responded=None)
    assert start(trials, 1, 2), "the site is still on trial, but has nothing in flight"
    assert not start(trials, 2, 3)
    trials.record_result(1, 2, responded=True)
    trials.record_result(1, 9, responded=None)
    assert trials.admits(1, 0)


@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=60))
def test_no_site_waits_forever(most, ends):
    """Sites with ten pages each; downloads end in any order, with or without a response."""
    trials = Trials(most)
    pages = dict.fromkeys(range(6), 10)
    ready, flying = deque(pages), []
    ends = deque(ends)
    number = 0
    while ready or flying:
        ready.extend(trials.admit_waiting(0))
        for _ in range(len(ready)):
            site = ready.popleft()
            number += 1
            if pages[site] and len(flying) < most and start(trials, site, number):
                pages[site] -= 1
                flying.append((site, number))
                ready.append(site)
            elif pages[site] and len(flying) >= most:
                ready.append(site)
        if flying:
            place, responded = ends.popleft() if ends else (0, False)
            site, page = flying.pop(place % len(flying))
            trials.record_result(site, page, responded=responded)
            ready.extend(trials.admit_waiting(0))
    assert not any(pages.values())


def test_closed_site_is_forgotten():
    trials = Trials(2)
    trials.record_request(1, 10)
    assert not trials.admits(2, 0)
    trials.wait(2)
    trials.forget_site(2)
    trials.record_result(1, 10, responded=True)
    trials.forget_site(1)
    assert trials.admit_waiting(0) == []
    trials.record_request(1, 11)
    assert not trials.admits(1, 0)  # on trial again
