"""Rows of a change set are read back unchanged from either database, with any text from the web."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from crawlers.store.schema.rows import write_of
from crawlers.store.schema.tables import (
    BadLinkRow,
    ChangedLinks,
    EndedPage,
    LinkRow,
    NewPage,
    OutdatedBadLinks,
    PageLinks,
    WaitingPage,
)
from crawlers.store.writing.change_set import ChangeSet
from tests.support.stored_rows import ended_page, execute, write_changes_of

pytestmark = pytest.mark.both_stores

LEAST, MOST = -(2**63), 2**63 - 1
NOW = 1763696389.123456
PAGE = NewPage(1, 1, LEAST, "http://a.test/?q=ü€𝄞", 2, 3, 4, 67.0, 0, "why", '{"a": "\\u0000"}', MOST, NOW, NOW + 1e-3)
WAITS = WaitingPage(1, "http://a.test/b", 0, 1, 0, 21.0, 0, "status 500", 2, None, NOW + 5)
ENDED = ended_page(1, content_hash="0f" * 16, content_signature=LEAST)
TEXTS = [
    ("a\x00b", "a\ufffdb"),
    ("\x00\x00", "\ufffd\ufffd"),
    ("\\\x00", "\\\ufffd"),
    ("\ud800", "\ufffd"),
    ("é\udfff\ud83d", "é\ufffd\ufffd"),
    ("\\u0000", "\\u0000"),
    ("\\\\u0000\\", "\\\\u0000\\"),
    ("\\ud800", "\\ud800"),
    ("%s :name %(x)s {} ' \" \n\t\x01\x7f\u2028", "%s :name %(x)s {} ' \" \n\t\x01\x7f\u2028"),
    ("", ""),
    ("𝄞", "𝄞"),
]


def write(database, *sets):
    batch = ChangeSet()
    for changes in sets:
        batch.extend(changes)
    write_changes_of(database, batch)


def rows(database, kind, order="1"):
    """Return the rows of that type's table, with its columns only."""
    statement = f"SELECT {', '.join(kind._fields)} FROM {write_of(kind).table.name} ORDER BY {order}"
    return [kind(*row) for row in database.rows(text(statement))]


@pytest.mark.parametrize("number", [2, 50])
def test_last_of_several_rows_of_a_page_in_a_batch_wins(database, number):
    sets = [ChangeSet(PAGE, PAGE._replace(id=2, key=2))]
    for level in range(number, 0, -1):
        sets.append(ChangeSet(*(WAITS._replace(id=i, url=f"http://a.test/{level}", level=level) for i in (1, 2))))
    write(database, *sets)
    found = [(row.id, row.level, row.url) for row in rows(database, WaitingPage)]
    assert found == [(number, 1, "http://a.test/1") for number in (1, 2)]


def test_rows_of_an_earlier_visit_are_deleted_before_new_ones_are_inserted(database):
    bad = (BadLinkRow(1, "old", "", 1, None), BadLinkRow(2, "other", "", 1, None))
    write(database, ChangeSet(LinkRow(1, 2, 3), LinkRow(1, 3, 3), *bad))
    links = (PageLinks(1, {2: 5}), ChangedLinks(1, [3]))
    write(database, ChangeSet(*links, BadLinkRow(1, "new", "", 1, None), OutdatedBadLinks(1)))
    assert rows(database, LinkRow, "1, 2") == [(1, 2, 5), (1, 3, 3)]
    assert rows(database, BadLinkRow, "1, 2") == [(1, "new", "", 1, None), (2, "other", "", 1, None)]


def test_characters_that_a_database_rejects_are_replaced_and_others_kept(database):
    rows_of_texts = [
        (PAGE._replace(id=n, key=n), ENDED._replace(id=n, reason=text, title=text), BadLinkRow(n, text, "", 2, text))
        for n, (text, _) in enumerate(TEXTS)
    ]
    write(database, ChangeSet(*(row for of_text in rows_of_texts for row in of_text)))
    kept = [text for _, text in TEXTS]
    assert rows(database, BadLinkRow) == [(n, text, "", 2, text) for n, text in enumerate(kept)]
    assert [(row.reason, row.title) for row in rows(database, EndedPage)] == [(text, text) for text in kept]


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(st.characters(exclude_categories=[])), max_size=20))
def test_both_databases_store_any_text_alike(database, texts):
    execute(database, text("DELETE FROM bad_link"))
    write(database, ChangeSet(*(BadLinkRow(number, raw, "", 1, None) for number, raw in enumerate(texts))))
    kept = ["".join("\ufffd" if c == "\x00" or "\ud800" <= c <= "\udfff" else c for c in raw) for raw in texts]
    assert [row.raw for row in rows(database, BadLinkRow)] == kept
