"""The rows of a page."""

import pytest

from crawlers.items import BadLink, ExternalLink, Page, State
from crawlers.store.schema.tables import BadLinkRow, EndedPage, ExternalLinkRow, ExternalUrlRow, LinkContextRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.page_rows import add_page_rows
from crawlers.urls.keys import url_key

NAV = ExternalLink("http://b.test/", 7, "http://b.test", "b", "see b", "nav", "", "a")


def rows_of(state=State.DONE, known=None, **more):
    changes, page = ChangeSet(), Page(7, "http://a.test/", 0, state, **more)
    known = {} if known is None else known
    add_page_rows(changes, page, known, attempts=2, fetched_at=10.0, now=11.0, moved_to=None)
    return changes


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("is_indexable", [True, False])
def test_only_a_page_that_was_read_says_whether_it_is_to_be_indexed(state, is_indexable):
    (row,) = rows_of(state, is_indexable=is_indexable)[EndedPage]
    assert row.is_indexable is (is_indexable if state is State.DONE else None)


def test_external_links_are_counted_per_url_and_context():
    changes = rows_of(external=[(NAV, 1), (NAV._replace(position="footer"), 2), (NAV, 3)])
    b = url_key("http://b.test/")
    (nav, *of_nav), (footer, *of_footer) = changes[LinkContextRow]
    assert (of_nav, of_footer) == (["b", "see b", "nav", "", "a"], ["b", "see b", "footer", "", "a"])
    assert sorted(changes[ExternalLinkRow]) == sorted([ExternalLinkRow(7, b, nav, 4), ExternalLinkRow(7, b, footer, 2)])
    assert changes[ExternalUrlRow] == [(b, "http://b.test", "http://b.test/", 7)]


def test_url_and_context_that_another_page_has_are_not_added_again():
    known, other = {}, NAV._replace(anchor="B")
    first, second = rows_of(known=known, external=[(NAV, 1)]), rows_of(known=known, external=[(NAV, 2), (other, 1)])
    assert ([row.anchor for row in second[LinkContextRow]], second[ExternalUrlRow]) == (["B"], [])
    assert second[ExternalLinkRow][0] == first[ExternalLinkRow][0]._replace(count=2)


def test_contexts_whose_texts_join_to_the_same_string_are_different():
    changes = rows_of(external=[(NAV, 1), (NAV._replace(anchor="b see", context="b"), 1)])
    assert len({row.id for row in changes[LinkContextRow]}) == 2


def test_bad_links_are_stored_as_written():
    changes = rows_of(bad=[BadLink("http://[", "not_a_url", 2, "text")])
    assert changes[BadLinkRow] == [BadLinkRow(page_id=7, raw="http://[", reason="not_a_url", count=2, anchor="text")]
