"""The history of a page has its earlier versions, and its added and removed links."""

from crawlers.items import State
from crawlers.reports.histories.change_history import change_events
from crawlers.reports.histories.history import SHOWN
from crawlers.store.schema.tables import LinkChangeRow, PageChangeRow
from tests.support import histories
from tests.support.scored_store import A, Linked, store
from tests.support.stored_rows import read, write_rows

PAGES = [
    Linked(f"{A}/", (f"{A}/came", f"{A}/more", f"{A}/more")),
    *(Linked(f"{A}/{n}") for n in ("came", "more", "gone")),
]


def history(database, crawl, changes=(), links=()):
    home = crawl.pages[f"{A}/"]
    write_rows(database, *(PageChangeRow(home, *change) for change in changes))
    write_rows(database, *(LinkChangeRow(home, crawl.pages[f"{A}/{name}"], *change) for name, *change in links))
    return histories.lines(read(change_events, database, home))


def time(second):
    return f"1970-01-01 00:00:{second:02}+00:00"


def test_earlier_versions_are_listed_in_order_of_time(database):
    changes = [(30.0, 20.0, int(State.DONE), 200, "ab" * 16), (50.0, 40.0, int(State.REFUSED), 404, None)]
    assert history(database, store(database, PAGES), changes) == [
        "  changed 2 times",
        f"  {time(30)} found changed; until {time(20)}: page, status 200, content abababab",
        f"  {time(50)} found changed; until {time(40)}: error, status 404",
    ]


def test_links_are_added_removed_and_change_their_count(database):
    changes = [(30.0, 20.0, int(State.DONE), 200, "ab" * 16)]
    links = [(name, 30.0, None, 0) for name in ("came", "gone")]
    links += [("gone", 40.0, 35.0, 1), ("more", 50.0, 45.0, 1)]
    lines = history(database, store(database, PAGES), changes, links)
    assert lines[1] == "  its links changed 4 times"
    assert lines[3:] == [
        f"  {time(30)} new link to {A}/came",
        f"  {time(30)} new link to {A}/gone",
        f"  {time(40)} no link to {A}/gone any more, last seen {time(35)}",
        f"  {time(50)} 2 links to {A}/more, until {time(45)} 1",
    ]


def test_only_the_latest_of_many_changes_are_listed(database):
    changes = [(30.0 + number, 20.0, int(State.DONE), 200, "ab" * 16) for number in range(SHOWN + 2)]
    links = [("gone", 30.0 + number, 20.0, number % 2) for number in range(SHOWN + 2)]
    lines = history(database, store(database, PAGES), changes, links)
    assert lines[0] == f"  changed {SHOWN + 2} times; the last {SHOWN} are shown"
    assert lines[1] == f"  its links changed {SHOWN + 2} times; the last {SHOWN} are shown"
    assert len(lines) == 2 * (SHOWN + 1)
