"""The rows of a page."""

import pytest

from crawlers.algorithms.urls.keys import url_key
from crawlers.items import BadLink, ExternalLink, Page, State
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.page_rows import add_page_rows
from crawlers.storage.schema.tables import (
    BadLinkRow,
    EndedPage,
    ExternalLinkRow,
    ExternalUrlRow,
    LinkContextRow,
)

NAV = ExternalLink("http://b.test/", 7, "http://b.test", "b", "see b", "nav", "", "a")


def rows_of(page, moved_to=None):
    changes = ChangeSet()
    add_page_rows(changes, page, attempts=2, fetched_at=10.0, now=11.0, moved_to=moved_to)
    return changes


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("is_indexable", [True, False])
def test_only_a_page_that_was_read_says_whether_it_is_to_be_indexed(state, is_indexable):
    (row,) = rows_of(Page(7, "http://a.test/", 0, state, is_indexable=is_indexable))[EndedPage]
    assert row.is_indexable is (is_indexable if state is State.DONE else None)


def test_external_links_are_counted_per_url_and_context():
    footer = NAV._replace(position="footer")
    page = Page(7, "http://a.test/", 0, State.DONE, external=[(NAV, 1), (footer, 2), (NAV, 3)])
    changes = rows_of(page)
    b = url_key("http://b.test/")
    assert [(row.page_id, row.url_id, row.count) for row in changes[ExternalLinkRow]] == [(7, b, 4), (7, b, 2)]
    assert [row[1:] for row in changes[LinkContextRow]] == [
        ("b", "see b", "nav", "", "a"),
        ("b", "see b", "footer", "", "a"),
    ]
    assert changes[ExternalUrlRow] == [(b, "http://b.test", "http://b.test/", 7)] * 2
    assert [row.context_id for row in changes[ExternalLinkRow]] == [row.id for row in changes[LinkContextRow]]


def test_contexts_whose_texts_join_to_the_same_string_are_different():
    other = NAV._replace(anchor="b see", context="b")
    changes = rows_of(Page(7, "http://a.test/", 0, State.DONE, external=[(NAV, 1), (other, 1)]))
    assert len({row.id for row in changes[LinkContextRow]}) == 2


def test_bad_links_are_stored_as_written():
    changes = rows_of(Page(7, "http://a.test/", 0, State.DONE, bad=[BadLink("http://[", "not_a_url", 2, "text")]))
    assert changes[BadLinkRow] == [BadLinkRow(page_id=7, raw="http://[", reason="not_a_url", count=2, anchor="text")]
