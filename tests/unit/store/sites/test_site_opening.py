"""Sites are added to crawls with their seeds, and opened again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import insert, select, text

from crawlers.items import State
from crawlers.store.reading import crawls
from crawlers.store.schema.tables import PrivateSeedHost, SeedHostRow, SiteAvailability, site, worker
from crawlers.store.sites.site_opening import (
    PROBLEM,
    SiteRow,
    count_excluded,
    count_sites,
    find_sites,
    known_sites,
    networks_of_seeds,
    open_site_ids,
    site_problem,
    site_rows,
)
from tests.support.stored_rows import begin, execute, new_page, read, write_rows


def test_unavailable_site_is_retried_after_a_stop_but_not_after_a_kill(database):
    crawl = begin(database, "http://a.test")
    home = new_page(1, crawl.sites[0].id, State.FAILED, reason="timeout")
    write_rows(database, home, SiteAvailability(crawl.sites[0].id, "timeout"))

    def states():
        state = database.scalar(text("SELECT state FROM page"))
        return state, database.scalar(text("SELECT availability FROM site"))

    begin(database, "http://a.test")
    assert states() == (State.FAILED, "timeout"), "a kill must not change the result"
    crawls.end(database, crawl.id, finished=False, reason="page_budget", now=2.0)
    begin(database, "http://a.test")
    assert states() == (State.WAITING, None)


A, B, C = (SiteRow(0, f"http://{name}.test", 2, 3, 1.0) for name in "abc")


def test_addresses_are_named_once_and_the_last_home_is_the_one_that_is_requested():
    assert (A.addresses, A.address) == (("http://a.test",), "http://a.test")
    moved = replace(A, aliases=("https://a.test", "http://a.test"), home_addresses=("https://a.test", "http://w.test"))
    assert moved.addresses == ("http://a.test", "https://a.test", "http://w.test")
    assert moved.address == "http://w.test"


def test_rows_are_read_by_number_without_the_home_addresses_of_other_sites(database):
    a, b, _ = begin(database, A, replace(B, aliases=("http://bb.test",)), C).sites
    homes = {"home_addresses": "http://w.test http://bb.test", "asked_at": 5.0}
    execute(database, site.update().where(site.c.id == a.id).values(**homes))
    moved = replace(a, home_addresses=("http://w.test",), asked_at=105.0, is_new=False)
    assert list(read(site_rows, database, {b.id, a.id}, 100.0)) == [moved, replace(b, is_new=False)]
    assert [row.site for row in read(find_sites, database, 1, site.c.id > a.id)] == [B.site, C.site]


@pytest.mark.both_stores
def test_hosts_that_were_public_in_any_crawl_stay_so_and_private_ones_only_in_theirs(database):
    first, second = (begin(database, A, B, name=name).id for name in "cd")
    found = (SeedHostRow(first, "a.test", ""), PrivateSeedHost(first, "b.test", "loopback"))
    again = (PrivateSeedHost(second, "a.test", "loopback"), PrivateSeedHost(second, "c.test", "loopback"))
    write_rows(database, *found, *again)
    assert read(networks_of_seeds, database, second, {"a.test", "b.test"}) == {"a.test": frozenset()}
    private = frozenset({"loopback"})
    assert read(networks_of_seeds, database, second) == {"a.test": private, "c.test": private}


@pytest.mark.both_stores
def test_more_sites_than_a_statement_has_parameters_are_looked_up(database):
    crawl = begin(database, A, B).id
    names = [f"http://{number}.test" for number in range(65_535)]  # PostgreSQL has no more, and SQLite mostly fewer
    assert read(known_sites, database, crawl, [A.site, *names, B.site]) == {A.site, B.site}


@pytest.mark.both_stores
def test_sites_of_a_crawl_are_counted_with_those_of_earlier_runs(database):
    crawl = begin(database, A, B, C)
    other = begin(database, A, name="other")
    a, b, c = (row.id for row in crawl.sites)
    assert read(count_sites, database, crawl.id) == 3
    pages = [new_page(0, a), new_page(1, b), new_page(2, b), new_page(3, c, State.DONE)]
    write_rows(database, *pages)
    assert count_excluded(database, crawl.id) == (0, 0)
    begin(database, A)
    assert open_site_ids(database, crawl.id) == [a]
    assert open_site_ids(database, other.id) == [other.sites[0].id]
    assert count_excluded(database, crawl.id) == (1, 2)


SILENT = {"robots_status": 0, "robots_text": "timeout"}
ABSENT = "robots_unread host_not_found"
NO_TLS = "tls_failed"
EXPIRED = "certificate_expired"


@pytest.mark.parametrize(
    ("stored", "beat_at", "problem"),
    [
        ({}, 99.0, None),
        ({"robots_status": 404}, 99.0, None),
        ({"robots_status": 200, "robots_text": "x", "rest_until": 130.0}, 99.0, None),
        ({**SILENT, "rest_until": 129.5}, 99.0, "reachable_yet 30 timeout"),
        ({**SILENT, "rest_until": 100.0}, 99.0, "reachable timeout"),
        ({**SILENT, "rest_until": 130.0}, 1.0, "reachable timeout"),
        ({**SILENT, "rest_until": 130.0}, None, "reachable timeout"),
        ({"robots_status": 503, "rest_until": 103.0}, 99.0, "available_yet 3 status 503"),
        ({"availability": "timeout", "rest_until": 102.0}, 99.0, "reachable_yet 2 timeout"),
        ({"availability": ABSENT}, 99.0, f"reachable {ABSENT}"),
        ({"availability": NO_TLS, "robots_status": 404}, 99.0, f"reachable {NO_TLS}"),
        ({"availability": "status 404", "certificate": EXPIRED}, 99.0, "available status 404"),
        ({**SILENT, "robots_text": EXPIRED, "rest_until": 107.0}, 99.0, f"reachable_yet 7 {EXPIRED}"),
    ],
)
def test_problem_of_a_site_names_reason_and_next_attempt_of_a_living_worker(database, stored, beat_at, problem):
    (row,) = begin(database, A).sites
    execute(database, site.update().values(worker_id=77, **stored))
    if beat_at is not None:
        values = {"id": 77, "crawl_id": 1, "machine": "m", "process": 1, "version": "1", "state": "active"}
        execute(database, insert(worker), {**values, "joined_at": 0.0, "beat_at": beat_at})
    (found,) = database.rows(select(*PROBLEM).where(site.c.id == row.id))
    assert site_problem(found, 100.0) == (problem and f"not_{problem}")


def test_site_of_which_a_page_was_read_has_no_problem_with_robots_txt(database):
    (row,) = begin(database, A).sites
    execute(database, site.update().values(**SILENT))
    write_rows(database, new_page(1, row.id, State.DONE))
    (found,) = database.rows(select(*PROBLEM))
    assert site_problem(found, 1.0) is None
