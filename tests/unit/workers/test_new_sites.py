"""Sites that several workers discover at once are at most as many as allowed."""

import pytest
from sqlalchemy import select

from crawlers.items import State
from crawlers.store.schema.message_tables import NO_PAGE, Message, message
from crawlers.store.schema.tables import (
    DiscoveredSite,
    EndedPage,
    SiteAvailability,
    external_link,
    external_url,
    seed,
    site,
)
from crawlers.store.sites.site_opening import discovered_site
from crawlers.store.sites.site_rows import SiteRow
from crawlers.store.writing.bulk_writer import write_changes
from crawlers.store.writing.change_set import ChangeSet
from crawlers.workers.new_sites import SiteLimit
from tests.support.interleaving import interleaved
from tests.support.stored_rows import begin, committed, ended_page, execute, new_page, write_rows

A = "http://a.test"
PAGE = 7
REASON = "redirect_to_other_site http://b.test/x"


def found(crawl_id, number, *names, hops=0, source=PAGE, carried=0.0):
    """Return the rows of sites that a page discovers, and of the messages to them; each *carried* some cash."""
    changes = ChangeSet()
    for place, name in enumerate(names):
        changes.extend(discovered_site(crawl_id, SiteRow(number + place, name, 1, None, 0.0)))
        target = (place, f"{name}/x", 1, hops)
        changes.add(Message(crawl_id, name, source, None, *target, 0 if hops else 2, 0.0, carried, 5.0, None))
    return changes


def apply(database, limit, changes):
    with database.write() as connection:
        limit.apply(connection, changes)
        write_changes(connection, changes)


def names(database):
    return database.scalars(select(site.c.site).order_by(site.c.site))


@pytest.mark.both_stores
def test_sites_beyond_the_limit_are_refused_and_links_to_them_are_external(database):
    crawl = begin(database, A).id
    one, two = SiteLimit(crawl, 3), SiteLimit(crawl, 3)
    apply(database, one, found(crawl, 11, "http://b.test", "http://c.test"))
    apply(database, two, found(crawl, 21, "http://c.test", "http://d.test", "http://e.test"))
    assert names(database) == [A, "http://b.test", "http://c.test"]
    assert (one.take_refused(), two.take_refused()) == ([], ["http://d.test", "http://e.test"])
    apply(database, two, found(crawl, 31, "http://d.test", "http://b.test"))  # a page that was recorded before that
    assert two.take_refused() == []
    sent = database.scalars(select(message.c.url).order_by(message.c.id))
    outside = database.rows(
        select(external_url.c.url, external_link.c.count)
        .join(external_link, external_link.c.url_id == external_url.c.id)
        .order_by(external_url.c.url)
    )
    seeds = database.scalars(select(seed.c.site).order_by(seed.c.site))
    assert sent == [f"http://{name}.test/x" for name in "bccb"]
    assert [tuple(row) for row in outside] == [("http://d.test/x", 2), ("http://e.test/x", 2)]
    assert seeds == [A, "http://b.test", "http://c.test"]


@pytest.mark.parametrize(
    ("level", "is_stored", "other_root", "later", "is_lost"),
    [
        (0, True, None, [], True),
        (0, False, None, [], True),
        (0, True, State.FAILED, [], True),
        (0, True, State.DONE, [], False),
        (0, True, None, [None], False),
        (1, True, None, [], False),
    ],
    ids=["stored", "new", "another failed", "another read", "another just read", "no root"],
)
def test_site_whose_home_page_redirects_to_a_refused_site_is_not_available(
    database, level, is_stored, other_root, later, is_lost
):
    begun = begin(database, A)
    (own,) = begun.sites
    pages = [new_page(PAGE, own.id, level=level)]
    if other_root is not None:
        pages.append(new_page(8, own.id, other_root))
    changes = ChangeSet(*(SiteAvailability(own.id, one) for one in later))
    changes.extend(found(begun.id, 11, "http://b.test", hops=1))
    changes[Message][:] = [one._replace(level=level) for one in changes[Message]]
    if is_stored:
        write_rows(database, *pages)
    else:
        changes.add(*pages)
    apply(database, SiteLimit(begun.id, 1), changes)
    assert database.scalar(select(site.c.availability)) == (REASON if is_lost else None)


def test_redirect_to_a_refused_site_is_one_to_another_site(database):
    crawl = begin(database, A).id
    limit = SiteLimit(crawl, 1)
    changes = found(crawl, 11, "http://b.test", hops=1)
    changes.add(ended_page(PAGE, State.MOVED), ended_page(8, State.MOVED))
    committed(limit.apply, database, changes)
    first, second = changes[EndedPage]
    assert (first.state, first.reason) == (State.REFUSED, REASON)
    assert (second.state, second.reason) == (State.MOVED, None)
    assert (changes[Message], changes[DiscoveredSite]) == ([], [])


@pytest.mark.both_stores
@pytest.mark.parametrize("carries_cash", [True, False])
def test_cash_of_messages_to_refused_sites_returns_to_the_page_in_the_same_transaction(database, carries_cash):
    crawl = begin(database, A)
    (home,) = crawl.sites
    # The page is found in the same batch. A page without cash sends nothing back.
    changes = found(crawl.id, 11, "http://b.test", "http://c.test", "http://d.test", carried=0.25)
    changes.extend(found(crawl.id, 21, "http://d.test", source=8))
    changes.add(new_page(PAGE, home.id, State.DONE, key=70, url=f"{A}/page", level=3))
    apply(database, SiteLimit(crawl.id, 2, carries_cash=carries_cash), changes)
    sent = database.rows(select(message).order_by(message.c.id))
    returned = (crawl.id, home.id, PAGE, PAGE, 70, f"{A}/page", 3, 0, 0, 0.0, 0.5, 5.0, None)
    assert [row[1:] for row in sent if row.url == f"{A}/page"] == [returned] * carries_cash
    assert [(row.url, row.carried) for row in sent if row.url != f"{A}/page"] == [("http://b.test/x", 0.25)]


def test_root_on_a_refused_site_is_not_sent(database):
    crawl = begin(database, A).id
    changes = found(crawl, 11, "http://b.test", source=NO_PAGE)
    apply(database, SiteLimit(crawl, 1), changes)
    assert (names(database), changes[Message]) == ([A], [])


def test_workers_that_discover_sites_at_once_obey_the_limit(postgresql, postgresql_url):
    """SQLite has one writer at a time."""
    crawl = begin(postgresql, A).id
    for statement, was_stopped in ((1, True), (2, True), (4, True), (5, True), (99, False)):
        execute(postgresql, site.delete().where(site.c.site != A))
        found_interleaved = interleaved(
            postgresql_url,
            statement,
            lambda one: apply(one, SiteLimit(crawl, 2), found(crawl, 11, "http://b.test")),
            lambda other: apply(other, SiteLimit(crawl, 2), found(crawl, 21, "http://c.test")),
        )
        assert found_interleaved.was_stopped == was_stopped
        assert len(names(postgresql)) == 2, statement
