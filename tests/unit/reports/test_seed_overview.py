"""The list of sites, and what the latest crawl found out about each."""

import pytest
from sqlalchemy import update

from crawlers.items import State
from crawlers.reports.catalogue.report import sorted_by
from crawlers.reports.catalogue.site_report import SEEDS, SeedState, chosen_lines, seed_lines, site_details
from crawlers.store.reading.url_counts import UrlCounts
from crawlers.store.schema.tables import PullRow, SettingRow, page, site
from crawlers.store.sites.seeds import save_seeds
from tests.support.stored_crawl import stored_crawl
from tests.support.stored_rows import execute, write_rows

A, C, NEW = "http://a.test", "http://c.test", "http://new.test"


@pytest.fixture
def stored(database):
    """A store with a crawl of two sites, of which one is not available, and a third site that was never crawled."""
    stored_crawl(database)
    save_seeds(database, [{"site": NEW, "name": "Ünique", "short_name": "N", "enabled": False}])
    execute(database, update(site).where(site.c.id == 2).values(availability="timeout"))
    return database


def found(database, *arguments, sort="", **options):
    return [line.site for line in sorted_by(chosen_lines(seed_lines(database), *arguments, **options), SEEDS, sort)]


def test_lines_have_the_state_and_the_figures_of_the_latest_crawl(stored):
    assert [(line.site, line.state, line.problem, line.crawl_id, *line[7:9]) for line in seed_lines(stored)] == [
        (A, SeedState.AVAILABLE, None, 1, 4, 2),
        (C, SeedState.UNAVAILABLE, "not_reachable timeout", 1, 130, 0),
        (NEW, SeedState.NEVER, None, None, None, None),
    ]


def test_site_with_a_bad_certificate_is_available_and_has_a_problem(stored):
    execute(stored, update(site).where(site.c.id == 1).values(certificate="certificate_expired"))
    first, *_ = seed_lines(stored)
    assert (first.state, first.problem) == (SeedState.AVAILABLE, "certificate_expired")
    assert found(stored, state=SeedState.AVAILABLE) == [A]
    assert found(stored, state="disabled") == [A, C, NEW]
    assert found(stored, state="enabled") == []


@pytest.mark.both_stores
def test_lines_are_sorted_by_what_the_latest_crawls_counted(stored):
    write_rows(stored, PullRow(1, 1, 5.0, 1e9))
    assert found(stored, sort="pages") == found(stored, sort="-errors") == [A, C, NEW]
    assert found(stored, sort="-pages") == [C, A, NEW]
    assert found(stored, sort="yield") == found(stored, sort="-yield") == [A, C, NEW]  # those without one come last


def test_lines_are_searched_in_names_and_addresses(stored):
    assert found(stored, " üNI ") == found(stored, "new.te") == [NEW]
    assert found(stored, "%") == found(stored, "none") == []


@pytest.mark.both_stores
def test_details_are_those_of_the_latest_crawl(stored):
    robots = "User-agent: mine\nCrawl-delay: 7\nDisallow: /x\n\nUser-agent: *\nCrawl-delay: 3\n"
    values = {"robots_status": 200, "robots_text": robots, "robots_at": 5.0, "parallel": 4, "delay_s": 0.5}
    execute(stored, update(site).where(site.c.id == 1).values(**values))
    execute(stored, update(page).where(page.c.state == int(State.FAILED)).values(reason="timeout"))
    write_rows(stored, SettingRow(1, "USER_AGENT", "mine/1.0"))
    details = site_details(stored, A)
    assert details.counts == UrlCounts(4, 0, 3, errors=2, not_pages=0, not_requested=3, deepest=1)
    assert (details.levels, details.errors) == ([(0, 1), (1, 3)], [("status 404", 1), ("timeout", 1)])
    assert (details.external_urls, details.robots_delay_s) == (3, 7.0)
    assert {name: getattr(details.row, name) for name in values} == values
