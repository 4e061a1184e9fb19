"""The frontier's contract, for every engine: a page with many links, which is acknowledged in slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawlers.algorithms.ranking.news_scores import FIT
from crawlers.algorithms.ranking.page_orders import ORDERS, OrderOptions
from crawlers.frontier import acknowledgement, frontier_writes
from crawlers.frontier.values import Candidate, Decision
from crawlers.items import Page, QueueSlot, State
from tests.contracts.scored_engines import ScoredMemoryEngine, opened
from tests.contracts.site import NOW, VARIANTS, Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlers.algorithms.slices import Slices
    from crawlers.frontier.values import AcknowledgedPage, Lease
    from tests.contracts.engines import Engine

SLICE = 20
MANY = [f"/{n}" for n in range(3 * SLICE)]
ALL_ORDERS = ["bfs", "aopic", "opic", "fit*opic", "fit", "learnt"]


@pytest.fixture(autouse=True)
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (acknowledgement, frontier_writes):
        monkeypatch.setattr(module, "SLICE_LINKS", SLICE)


@pytest.fixture(params=["memory", "sqlite"])
def held(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Each engine that loses uncommitted changes."""
    with opened(request) as engine:
        yield engine


def begun(engine: Any, order: str = "bfs", site_id: int | None = None, **limits: Any) -> Site:
    site = Site(engine, engine.frontier(ORDERS[order](OrderOptions()), **limits), id=site_id, parallel=10_000)
    if site_id is None:
        site.frontier.add([Candidate(site.id, site.target("/"))], NOW)
    return site


def decision(site: Site, lease: Lease, *links: str, order: str = "bfs") -> Decision:
    targets = [site.target(link) for link in links]
    page = Page(lease.id, lease.url, lease.level, State.DONE, 200, links=[(target, 1) for target in targets])
    if not order.startswith("fit"):
        return Decision(page)
    new = site.frontier.unseen(targets, lease.level + 1)
    return Decision(page, {target.key: QueueSlot(FIT, 1.0 + target.key % 7) for target in new})


def end(site: Site, lease: Lease, *links: str, order: str = "bfs") -> Slices[AcknowledgedPage]:
    return site.frontier.acknowledging(lease, decision(site, lease, *links, order=order), NOW)


def waiting(site: Site) -> list[str]:
    return site.paths(site.lease(n=10_000))


def story(site: Site, order: str, until: int = 20) -> list[str]:
    """Crawl pages one after the other; return their paths. The first one has many links, the next ones some of them."""
    paths: list[str] = []
    while len(paths) < until:
        lease = site.one()
        links = MANY[len(paths) : len(paths) + 15] if paths else [*MANY, *MANY[:20], *VARIANTS]
        end(site, lease, *links, order=order).finish()
        paths += site.paths([lease])
    return paths


@pytest.mark.parametrize("order", ALL_ORDERS)
def test_slices_change_neither_the_order_nor_the_rows(held: Any, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def outcome(held: Any) -> tuple[list[str], list[Any], list[Any]]:
        site = begun(held, order)
        first = min(row["id"] for row in held.rows(site.id))
        paths = story(site, order)
        rows = sorted(
            (row["id"] - first, row["url"].removeprefix(site.root), row["state"]) for row in held.rows(site.id)
        )
        links = sorted((s - first, t - first, n) for (s, t), n in held.links().items() if s >= first)
        return paths, rows, links

    sliced = outcome(held)
    for module in (acknowledgement, frontier_writes):
        monkeypatch.setattr(module, "SLICE_LINKS", 1_000_000)
    assert outcome(ScoredMemoryEngine()) == sliced


@pytest.mark.parametrize("order", ALL_ORDERS)
@pytest.mark.parametrize("slices", [1, 2])
def test_page_that_is_killed_between_two_slices_is_repeated(held: Any, order: str, slices: int) -> None:
    site = begun(held, order)
    held.held.flush()
    (before,) = held.rows(site.id)
    ending = end(site, site.one(), *MANY, order=order)
    for _ in range(slices):
        assert ending.next()
    held.held.lose()

    assert held.rows(site.id) == [before]
    again = begun(held, order, site.id)
    end(again, again.one(), *MANY, order=order).finish()
    held.held.flush()
    assert sorted(again.rows()) == sorted(["/", *MANY])
    assert {*waiting(again)} - {"/"} == {*MANY}  # some orders fetch it again


def test_page_stays_leased_until_the_last_slice(engine: Engine) -> None:
    site = begun(engine)
    lease = site.one()
    ending = end(site, lease, *MANY)
    while ending.next():
        assert site.frontier.leased(lease.id) is lease
    assert site.frontier.leased(lease.id) is None
    assert ending.finish().new == len(MANY)


@pytest.mark.parametrize("order", ALL_ORDERS)
def test_other_pages_end_between_two_slices(held: Any, order: str) -> None:
    site = begun(held, order)
    end(site, site.one(), "/a", "/b", order=order).finish()
    many, other = site.lease(n=2)
    ending = end(site, many, *MANY, order=order)
    assert ending.next()
    end(site, other, *MANY[:10], "/c", order=order).finish()  # known ones, those of later slices, and a new one
    found = set(site.paths(site.lease(n=3)))  # those of the first slice may be fetched, if the order allows it
    ending.finish()
    held.held.flush()

    assert len(held.rows(site.id)) == 3 + len(MANY) + 1
    links = held.links()
    assert sum(source == many.id for source, _ in links) == len(MANY)
    assert sum(source == other.id for source, _ in links) == 11
    assert found.isdisjoint(rest := waiting(site))
    assert {*found, *rest} >= {*MANY, "/c"}


def test_kill_between_two_slices_takes_back_the_pages_that_ended_meanwhile(held: Any) -> None:
    site = begun(held)
    end(site, site.one(), "/a", "/b").finish()
    held.held.flush()
    many, other = site.lease(n=2)
    ending = end(site, many, *MANY)
    assert ending.next()
    end(site, other, MANY[0], "/c").finish()
    held.held.lose()

    again = begun(held, site_id=site.id)
    assert waiting(again) == ["/a", "/b"]
    assert len(held.rows(site.id)) == 3


def test_who_waits_for_rows_of_a_slice_gets_all_slices(held: Any) -> None:
    site = begun(held)
    lease = site.one()
    ending = end(site, lease, *MANY)
    assert ending.next()

    held.held.flush()
    assert site.frontier.leased(lease.id) is None
    assert len(held.rows(site.id)) == 1 + len(MANY)
    assert not ending.next()
    assert ending.finish().new == len(MANY)


@pytest.mark.parametrize("order", ["aopic", "opic"])
def test_no_cash_is_lost_between_slices(engine: Engine, order: str) -> None:
    site = begun(engine, order)
    scoring = site.frontier._scoring
    assert scoring is not None
    end(site, site.one(), "/a", "/b").finish()
    many, other = site.lease(n=2)
    ending = end(site, many, *MANY)
    assert ending.next()
    end(site, other, *MANY[-10:]).finish()
    ending.finish()
    assert scoring.scores.total_cash() == pytest.approx(1.0)
    assert scoring.unwritten == 0


@pytest.mark.parametrize("order", ALL_ORDERS)
def test_nothing_is_leased_between_two_slices(engine: Engine, order: str) -> None:
    site = begun(engine, order)
    end(site, site.one(), "/a", "/b", order=order).finish()
    lease = site.one()
    ending = end(site, lease, *MANY, order=order)
    while ending.next():
        assert site.lease() == []
    assert site.lease()


CHANGES: dict[str, Callable[[Site, Site, Lease], object]] = {
    "acknowledge": lambda site, _, lease: end(site, lease).finish(),
    "add": lambda site, *_: site.frontier.add([Candidate(site.id, site.target("/c"))], NOW),
    "close": lambda site, other, _: site.frontier.close_site(other.id, NOW),
    "fetch again": lambda site, *_: site.frontier.fetch_again(site.root, [], NOW),
    "release": lambda site, _, lease: site.frontier.release(lease, NOW),
    "resume": lambda site, other, _: site.frontier.resume(other.id, NOW),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("order", ["bfs", "aopic", "fit*opic"])
def test_whatever_changes_the_frontier_comes_after_the_last_slice(held: Any, order: str, change: str) -> None:
    site = begun(held, order)
    other = Site(held, site.frontier)
    end(site, site.one(), "/a", "/b", order=order).finish()
    many, small = site.lease(n=2)
    ending = end(site, many, *MANY, order=order)
    assert ending.next()
    CHANGES[change](site, other, small)
    assert site.frontier.leased(many.id) is None
    assert not ending.next()
    assert {*MANY} <= {*site.rows()}


def test_few_links_are_one_slice(engine: Engine) -> None:
    site = begun(engine)
    assert not end(site, site.one(), *MANY[:SLICE]).next()
