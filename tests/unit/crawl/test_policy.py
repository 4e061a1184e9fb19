"""A spider hears what it wants to hear, and nothing has to be there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from crawlers.algorithms.urls.resolution import resolve
from crawlers.crawl.policy import Hooks
from crawlers.frontier.protocols import Lease
from crawlers.items import Page, State

TARGET = resolve("http://one.test", "/a")
LEASE = Lease(1, 2, TARGET.key, TARGET.url, 0, 0, 0, None, 0.0)
PAGE = Page(1, TARGET.url, 0, State.DONE)
SESSION = SimpleNamespace(
    database="database",
    writer="writer",
    frontier="frontier",
    row=SimpleNamespace(id=7, sites=[SimpleNamespace(id=2, delay_s=0.5)]),
)


class Desk:
    def __init__(self) -> None:
        self.ended: list[tuple[Any, ...]] = []

    def ending(self, *what: Any) -> None:
        self.ended.append(what)

    def reason_against(self, target: Any) -> str | None:
        return "the desk has it"

    def reason_to_skip(self, lease: Any) -> str | None:
        return "removed"


class Spider:
    """Has its desk when the crawl is open, as it needs the store."""

    is_ready = False

    def crawl_opened(self, *what: Any) -> None:
        self.opened = what
        self.policy = Desk()

    def found_by_robots(self, text: str) -> list[str]:
        return [text]


def test_spider_that_wants_nothing_is_ready_and_changes_nothing():
    hooks = Hooks(SimpleNamespace())  # type: ignore[arg-type]
    hooks.opened(SESSION)  # type: ignore[arg-type]
    hooks.ending(LEASE, PAGE, 5.0)
    assert hooks.is_ready
    assert hooks.found_by_robots("Sitemap: http://one.test/s.xml") == []
    assert hooks.reason_to_skip(LEASE) is None
    assert hooks.admitting(lambda target: None)(TARGET) is None
    assert hooks.admitting(lambda target: "extension")(TARGET) == "extension"


def test_spider_is_told_of_the_crawl_and_its_desk_is_asked_from_then_on():
    spider = Spider()
    hooks = Hooks(spider)  # type: ignore[arg-type]
    admit = hooks.admitting(lambda target: None)
    assert (admit(TARGET), hooks.reason_to_skip(LEASE)) == (None, None)
    hooks.opened(SESSION)  # type: ignore[arg-type]
    hooks.ending(LEASE, PAGE, 5.0)
    assert not hooks.is_ready
    assert spider.opened == ("database", 7, "writer", "frontier", {2: 0.5})
    assert spider.policy.ended == [(LEASE, PAGE, 5.0)]
    assert hooks.found_by_robots("text") == ["text"]
    assert (admit(TARGET), hooks.reason_to_skip(LEASE)) == ("the desk has it", "removed")


def test_reason_of_the_crawl_goes_before_that_of_the_desk():
    hooks = Hooks(Spider())  # type: ignore[arg-type]
    hooks.opened(SESSION)  # type: ignore[arg-type]
    assert hooks.admitting(lambda target: "extension")(TARGET) == "extension"
