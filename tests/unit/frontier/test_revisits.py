"""What another visit says of a page, and the rows that it leaves."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.frontier.frontier_store import PreviousVisit
from crawlers.frontier.protocols import Lease
from crawlers.frontier.revisits import add_change, add_seen_again, is_as_it_was
from crawlers.items import Page, State
from crawlers.storage.change_set import ChangeSet

HASH = b"\x01" * 16
FORMER = PreviousVisit({7: 1, 8: 2}, int(State.DONE), 200, HASH.hex(), 50.0, '"1"', "yesterday")
LEASE = Lease(3, 1, 99, "http://a.test/", 0, 0, 0, None, 90.0, 1, FORMER)


def page(state: State = State.DONE, status: int = 200, **more: Any) -> Page:
    return Page(3, "http://a.test/", 0, state, status, **more)


@pytest.mark.parametrize(
    "same",
    [
        page(status=304, is_unchanged=True),
        page(content_hash=HASH),
        page(State.FAILED, 0),
        page(State.REJECTED, 0),
        page(State.REFUSED, 500),
        page(State.REFUSED, 503),
        page(State.REFUSED, 429),
    ],
    ids=lambda same: f"{same.state.name}-{same.status}",
)
def test_nothing_new_was_learnt(same: Page) -> None:
    assert is_as_it_was(same, FORMER)


@pytest.mark.parametrize(
    "other",
    [
        page(content_hash=b"\x02" * 16),
        page(),
        page(State.REFUSED, 404),
        page(State.REFUSED, 200),
        page(State.MOVED, 301),
    ],
    ids=lambda other: f"{other.state.name}-{other.status}-{len(other.content_hash)}",
)
def test_page_has_changed(other: Page) -> None:
    assert not is_as_it_was(other, FORMER)


def test_page_that_is_still_not_there_is_as_it_was() -> None:
    previous = FORMER._replace(state=int(State.REFUSED), status=404, content_hash=None)
    assert is_as_it_was(page(State.REFUSED, 404), previous)
    assert is_as_it_was(page(State.REFUSED, 503), previous), "the host may be down"
    assert not is_as_it_was(page(State.REFUSED, 410), previous)
    assert not is_as_it_was(page(content_hash=HASH), previous)


def test_page_seen_again_was_seen_when_it_was_asked_for() -> None:
    changes = ChangeSet()
    add_seen_again(changes, LEASE, page(status=304, is_unchanged=True), FORMER)
    assert changes == ChangeSet(seen_again=[[3, None, 90.0, '"1"', "yesterday"]])


def test_page_that_could_not_be_had_was_seen_when_it_was_before() -> None:
    changes = ChangeSet()
    add_seen_again(changes, LEASE, page(State.FAILED, 0, reason="no answer"), FORMER)
    assert changes == ChangeSet(seen_again=[[3, "no answer", 50.0, '"1"', "yesterday"]])


def test_change_keeps_what_the_page_was_and_its_links() -> None:
    changes = ChangeSet()
    new = add_change(changes, LEASE, FORMER, {8: 1, 9: 4}, 91.0)
    assert new == {8: 1, 9: 4}
    assert changes.page_changes == [[3, 91.0, 50.0, State.DONE, 200, HASH.hex()]]
    assert changes.forgotten == [[3]]
    assert changes.lost_links == [[3, 7], [3, 8]]
    assert changes.link_changes == [[3, 7, 91.0, 50.0, 1], [3, 8, 91.0, 50.0, 2], [3, 9, 91.0, None, 0]]


counts = st.dictionaries(st.integers(1, 6), st.integers(1, 3))


@given(counts, counts)
def test_links_that_are_lost_and_added_make_those_of_today_and_the_changes_those_of_before(
    before: dict[int, int], today: dict[int, int]
) -> None:
    changes = ChangeSet()
    stored = dict(before)
    new = add_change(changes, LEASE, FORMER._replace(links=before), today, 91.0)
    for _, target in changes.lost_links:
        del stored[target]
    assert not stored.keys() & new.keys(), "a row would be there already"
    assert stored | new == today
    was = today | {target: count for _, target, _, _, count in changes.link_changes}
    assert {target: count for target, count in was.items() if count} == before
