"""Which sites are watched for traps, for how long, and with what memory."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from scrapy.settings import Settings

from crawlers.crawl import site_policies as sites_module
from crawlers.crawl.site_policies import SitePolicies
from crawlers.frontier.frontier_store import PreviousVisit
from crawlers.frontier.protocols import Lease
from crawlers.items import Page, State
from crawlers.storage.site_rows import SiteRow

FORMER = PreviousVisit({}, int(State.DONE), 200, None, 1.0, None, None)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was read again, of which site."""
    asked: list[str] = []

    def pages(kind: str) -> object:
        def read(_: object, site_id: int, most: int = 0) -> list[tuple[str, int, int]]:
            asked.append(f"{kind} of {site_id}")
            return [(f"http://s{site_id}/calendar?day={n}", 0, 5) for n in range(400)]

        return read

    monkeypatch.setattr(sites_module, "fetched_pages", pages("levels"))
    monkeypatch.setattr(sites_module, "latest_pages", pages("latest"))
    return asked


def watched(*, goes_by_level: bool, resumed: bool = False, number: int = 2) -> SitePolicies:
    session = SimpleNamespace(
        frontier=SimpleNamespace(open_site=lambda state, now, start: None),
        writer=SimpleNamespace(flush=lambda: None),
        database=None,
        goes_by_level=goes_by_level,
        row=SimpleNamespace(),
    )
    settings = Settings({"ROBOTSTXT_OBEY": False, "TRAPS_ENABLED": True, "USER_AGENT": "us"})
    sites = SitePolicies(session, settings, "us", True, lambda: 0.0)
    for site_id in range(1, number + 1):
        sites.open(SiteRow(site_id, f"http://s{site_id}", 1, None, 0.0, is_new=not resumed), 0.0)
    return sites


def lease(site_id: int, number: int = 0, level: int = 1) -> Lease:
    return Lease(
        number + 1, site_id, number, f"http://s{site_id}/calendar?day={number}", level, 0, 0, None, 0.0, 0, None
    )


def show(sites: SitePolicies, site_id: int, pages: int, level: int = 1) -> None:
    for number in range(pages):
        one = lease(site_id, number, level)
        page = Page(one.id, one.url, level, State.DONE, 200, content_signature=5)
        sites.observe(one, page)


def test_endless_part_is_cut_and_what_comes_back_is_not_asked_about(shown: list[str]) -> None:
    sites = watched(goes_by_level=True)
    show(sites, 1, 300)
    reason = sites.reason_against(lease(1, 301, level=2))
    assert reason is not None
    assert reason.startswith("trap: 300 pages like")
    assert sites.reason_against(replace(lease(1, 301, level=2), previous=FORMER)) is None


def test_page_that_comes_back_is_no_second_page(shown: list[str]) -> None:
    sites = watched(goes_by_level=True)
    show(sites, 1, 1)
    for _ in range(400):
        sites.observe(replace(lease(1), previous=FORMER), Page(1, "http://s1/calendar?day=0", 1, State.DONE, 200))
    assert sites.reason_against(lease(1, 9, level=2)) is None


def test_sites_met_longest_ago_are_read_again_where_levels_must_be_whole(
    shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sites_module, "MAX_WATCHES", 1)
    sites = watched(goes_by_level=True)
    show(sites, 1, 5)
    show(sites, 2, 5)
    assert shown == []
    assert sites.reason_against(lease(1, 1, level=2)) is not None  # by the 400 pages that the store has
    assert shown == ["levels of 1"]


def test_without_levels_each_site_has_its_share_of_memory(shown: list[str]) -> None:
    sites = watched(goes_by_level=False, number=2000)
    for site_id in range(1, 11):
        show(sites, site_id, 600)
    assert all(sites.reason_against(lease(site_id, 601)) for site_id in range(1, 11))
    assert shown == []


def test_without_levels_sites_met_longest_ago_begin_anew(shown: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites_module, "MAX_SHARING", 1)
    sites = watched(goes_by_level=False)
    show(sites, 1, 600)
    show(sites, 2, 5)
    assert sites.reason_against(lease(1, 601)) is None
    assert shown == []


def test_without_levels_a_crawl_that_goes_on_reads_the_latest_pages_once(shown: list[str]) -> None:
    sites = watched(goes_by_level=False, resumed=True)
    show(sites, 1, 5)
    assert shown == ["latest of 1"]


def test_drained_site_is_read_again_when_it_wakes(shown: list[str]) -> None:
    sites = watched(goes_by_level=True)
    show(sites, 1, 5)
    sites.release_watch(1)
    sites.release_watch(2)
    show(sites, 1, 5)
    show(sites, 2, 5)
    assert shown == ["levels of 1"]
