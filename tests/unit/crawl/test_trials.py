"""Sites that may hang get a part of the downloads only."""

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from crawlers.crawl.trials import Trials


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
