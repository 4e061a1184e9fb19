"""Rows of a change set come out of either database as they went in, whatever texts the web has in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from crawlers.items import State
from crawlers.storage import change_set as u
from crawlers.storage import crawls
from crawlers.storage.bulk_writer import write_changes

if TYPE_CHECKING:
    from crawlers.storage.database import Database

LEAST, MOST = -(2**63), 2**63 - 1
NOW = 1763696389.123456
PAGE = [1, 1, LEAST, "http://a.test/?q=ü€𝄞", 2, 3, 4, 67.0, 0, "why", '{"a": "\\u0000"}', MOST, NOW, NOW + 1e-3, 7]
WAITS = [1, "http://a.test/b", 0, 1, 0, 21.0, 0, "status 500", 2, None, NOW + 5]
ENDED = [
    1,
    int(State.DONE),
    None,
    3,
    NOW,
    NOW + 9,
    200,
    None,
    "0f" * 16,
    LEAST,
    "Title",
    "http://a.test/",
    "text/html",
    0,
    '"v1"',
    "Fri, 21 Nov 2025 09:00:00 GMT",
]
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


def write(database: Database, *sets: u.ChangeSet) -> None:
    batch = u.ChangeSet()
    for changes in sets:
        batch.extend(changes)
    with database.write() as connection:
        write_changes(connection, batch)


def rows(database: Database, table: str, columns: tuple[tuple[str, str], ...], order: str = "1") -> list[list[Any]]:
    names = ", ".join(name for name, _ in columns)
    with database.read() as connection:
        return [list(row) for row in connection.execute(text(f"SELECT {names} FROM {table} ORDER BY {order}"))]


def test_new_pages_come_back_as_they_went_in(database: Database) -> None:
    pages = [PAGE, [2, 1, MOST, "http://a.test/", 0, 0, 0, -0.5, 5, None, None, None, 0.1, 1e300, 0]]
    write(database, u.ChangeSet(new_pages=pages))
    assert rows(database, "page", u.NEW_PAGE) == pages


def test_waiting_page_is_updated(database: Database) -> None:
    write(
        database,
        u.ChangeSet(new_pages=[[*PAGE[:8], int(State.REJECTED), *PAGE[9:]]]),
        u.ChangeSet(waiting_pages=[WAITS]),
    )
    assert rows(database, "page", u.WAITING_PAGE) == [WAITS]
    assert rows(database, "page", (("state", ""),)) == [[State.WAITING]]


def test_ended_page_is_updated_and_only_that_one(database: Database) -> None:
    write(database, u.ChangeSet(new_pages=[PAGE, [2, 1, 2, *PAGE[3:]]], ended_pages=[ENDED]))
    first, second = rows(database, "page", u.ENDED_PAGE, "id")
    assert first == ENDED
    assert second[:3] == [2, State.WAITING, "why"]


@pytest.mark.parametrize("number", [2, 50])
def test_last_word_on_a_page_stands_when_one_batch_has_several(database: Database, number: int) -> None:
    sets = [u.ChangeSet(new_pages=[PAGE, [2, 1, 2, *PAGE[3:]]])]
    for level in range(number, 0, -1):
        sets.append(u.ChangeSet(waiting_pages=[[i, f"http://a.test/{level}", 0, level, *WAITS[4:]] for i in (1, 2)]))
    write(database, *sets)
    assert rows(database, "page", (("id", ""), ("level", ""), ("url", ""))) == [
        [1, 1, "http://a.test/1"],
        [2, 1, "http://a.test/1"],
    ]


def test_page_that_failed_and_then_ended_within_one_batch_has_ended(database: Database) -> None:
    write(database, u.ChangeSet(new_pages=[PAGE]), u.ChangeSet(waiting_pages=[WAITS]), u.ChangeSet(ended_pages=[ENDED]))
    assert rows(database, "page", (("state", ""), ("attempts", ""))) == [[State.DONE, 3]]


def test_links_of_a_page_are_one_row_a_target(database: Database) -> None:
    write(database, u.ChangeSet(links=[[7, {8: 1, MOST: 300}], [8, {}], [9, {7: 2}]]))
    columns = (("source_id", ""), ("target_id", ""), ("count", ""))
    assert rows(database, "link", columns, "1, 2") == [[7, 8, 1], [7, MOST, 300], [9, 7, 2]]


def test_external_url_and_context_that_are_known_are_kept_as_they_are(database: Database) -> None:
    urls = [[LEAST, "http://b.test", "http://b.test/", 8], [5, "http://c.test", "http://c.test/", 9]]
    contexts = [[MOST, "anchor", "context", "nav", "", "a"]]
    changes = u.ChangeSet(external_urls=[*urls, urls[0]], link_contexts=[*contexts, *contexts])
    write(database, changes, u.ChangeSet(external_links=[[1, LEAST, MOST, 2]]))
    write(database, changes, u.ChangeSet(external_links=[[2, LEAST, MOST, 1]]))
    assert rows(database, "external_url", u.EXTERNAL_URL) == urls
    assert rows(database, "link_context", u.LINK_CONTEXT) == contexts
    assert rows(database, "external_link", u.EXTERNAL_LINK) == [[1, LEAST, MOST, 2], [2, LEAST, MOST, 1]]


def test_what_a_page_of_a_topic_says_is_what_it_said_last(database: Database) -> None:
    write(database, u.ChangeSet(topic_pages=[[1, 0.25, "{}"], [2, 0.0, "{}"], [1, 0.5, '{"utf": 2}']]))
    write(database, u.ChangeSet(topic_pages=[[2, 1.0, '{"utf": 1}']]))
    assert rows(database, "topic_page", u.TOPIC_PAGE) == [[1, 0.5, '{"utf": 2}'], [2, 1.0, '{"utf": 1}']]


def test_robots_of_a_site_are_kept(database: Database) -> None:
    site = crawls.begin(database, "c", "m", [crawls.SiteRow(0, "http://a.test", 1, None, 0.0)], {}, NOW).sites[0]
    robots = [site.id, 200, "User-agent: *\nDisallow: /\x00", NOW]
    write(database, u.ChangeSet(site_robots=[[site.id, 0, None, 1.0], robots]))
    assert rows(database, "site", u.SITE_ROBOTS) == [[site.id, 200, "User-agent: *\nDisallow: /\ufffd", NOW]]


def test_empty_change_set_is_nothing(database: Database) -> None:
    write(database, u.ChangeSet())
    assert rows(database, "page", u.NEW_PAGE) == []


@pytest.mark.parametrize(("given", "kept"), TEXTS)
def test_text_that_no_database_can_hold_is_replaced_and_all_other_kept(
    database: Database, given: str, kept: str
) -> None:
    ended = list(ENDED)
    ended[2] = ended[10] = given
    write(database, u.ChangeSet(new_pages=[PAGE], ended_pages=[ended], bad_links=[[1, given, "not a URL"]]))
    assert rows(database, "bad_link", u.BAD_LINK) == [[1, kept, "not a URL"]]
    assert rows(database, "page", (("reason", ""), ("title", ""))) == [[kept, kept]]


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(st.characters(exclude_categories=[])), max_size=20))
def test_any_texts_are_stored_alike(database: Database, texts: list[str]) -> None:
    with database.write() as connection:
        connection.execute(text("DELETE FROM bad_link"))
    write(database, u.ChangeSet(bad_links=[[number, raw, ""] for number, raw in enumerate(texts)]))
    kept = ["".join("\ufffd" if c == "\x00" or "\ud800" <= c <= "\udfff" else c for c in raw) for raw in texts]
    assert [raw for _, raw, _ in rows(database, "bad_link", u.BAD_LINK)] == kept
