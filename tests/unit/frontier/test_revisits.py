"""A revisit is compared with the previous visit, and leaves rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.frontier.acknowledgement import add_change, add_unchanged, is_unchanged
from crawlers.frontier.values import Lease, PreviousVisit
from crawlers.items import Page, State
from crawlers.store.schema.tables import ChangedLinks, LinkChangeRow, OutdatedBadLinks, PageChangeRow, UnchangedPage
from crawlers.store.writing.change_set import ChangeSet

HASH = b"\x01" * 16
PREVIOUS = PreviousVisit({7: 1, 8: 2}, int(State.DONE), 200, HASH.hex(), 50.0, '"1"', "yesterday")
MISSING = PREVIOUS._replace(state=int(State.REFUSED), status=404, content_hash=None)
LEASE = Lease(3, 1, 99, "http://a.test/", 0, 0, 0, None, 90.0, 1, PREVIOUS)


def page(state=State.DONE, status=200, **more):
    return Page(3, "http://a.test/", 0, state, status, **more)


@pytest.mark.parametrize(
    ("now", "is_same"),
    [
        (page(status=304, is_unchanged=True), True),
        (page(content_hash=HASH), True),
        (page(State.FAILED, 0), True),
        (page(State.REJECTED, 0), True),
        (page(State.REFUSED, 500), True),
        (page(State.REFUSED, 429), True),
        (page(content_hash=b"\x02" * 16), False),
        (page(), False),
        (page(State.REFUSED, 404), False),
        (page(State.REFUSED, 200), False),
        (page(State.MOVED, 301), False),
    ],
)
def test_page_is_unchanged_or_not(now, is_same):
    assert is_unchanged(now, PREVIOUS) is is_same


def test_page_that_is_still_missing_is_unchanged():
    now = [page(State.REFUSED, 404), page(State.REFUSED, 503), page(State.REFUSED, 410), page(content_hash=HASH)]
    assert [is_unchanged(one, MISSING) for one in now] == [True, True, False, False], "with 503, the host may be down"


def test_page_that_is_still_missing_was_seen_to_be_so():
    for status, seen_at in ((404, 90.0), (503, 50.0)):
        changes = ChangeSet()
        add_unchanged(changes, LEASE, page(State.REFUSED, status, reason="why"), MISSING)
        assert changes[UnchangedPage] == [(3, "why", seen_at, '"1"', "yesterday")]


def test_change_keeps_the_previous_state_of_the_page_and_its_links():
    changes = ChangeSet()
    new = add_change(changes, LEASE, PREVIOUS._replace(links={6: 1, 7: 1, 8: 2}), {6: 1, 8: 1, 9: 4}, 91.0)
    assert new == {8: 1, 9: 4}
    assert changes[PageChangeRow] == [(3, 91.0, 50.0, State.DONE, 200, HASH.hex())]
    assert changes[OutdatedBadLinks] == [(3,)]
    assert changes[ChangedLinks] == [(3, [6])]
    assert changes[LinkChangeRow] == [(3, 7, 91.0, 50.0, 1), (3, 8, 91.0, 50.0, 2), (3, 9, 91.0, None, 0)]


counts = st.dictionaries(st.integers(1, 6), st.integers(1, 3))


@given(counts, counts)
def test_lost_and_added_links_give_the_current_links_and_changes_the_previous_ones(before, today):
    changes = ChangeSet()
    new = add_change(changes, LEASE, PREVIOUS._replace(links=before), today, 91.0)
    (changed,) = changes[ChangedLinks]
    stored = {target: count for target, count in before.items() if target in changed.kept}
    assert not stored.keys() & new.keys(), "a row would be there already"
    assert stored | new == today
    was = today | {change.target_id: change.count for change in changes[LinkChangeRow]}
    assert {target: count for target, count in was.items() if count} == before
