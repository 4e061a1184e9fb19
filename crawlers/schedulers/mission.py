"""What a spider wants of a crawl, as the scheduler and its session ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from scrapy.settings import BaseSettings
    from scrapy.spiders import Spider

    from crawlers.algorithms.scope import Scope
    from crawlers.algorithms.topic_file import TopicSpec
    from crawlers.items import Place, SiteLimits


@dataclass(frozen=True, slots=True)
class Mission:
    """The sites and roots of a spider of ours; an ordinary spider has none, and yields requests itself."""

    name: str
    sites: Sequence[SiteLimits] = ()
    roots: Sequence[str] = ()  # further pages on level 0, beside the start pages of the sites
    scope: Scope | None = None  # where else it may go; None: it stays on the sites, each for itself
    start_place: Place | None = None  # where the start pages and roots wait, under an order with places
    topic: TopicSpec | None = None
    counts_rewards: bool = False
    page_budget: int = 0

    @classmethod
    def of(cls, spider: Spider, settings: BaseSettings) -> Self:
        """What *spider* says of itself."""
        topic: TopicSpec | None = getattr(spider, "spec", None)
        return cls(
            spider.name,
            getattr(spider, "site_limits", ()),
            getattr(spider, "roots", ()),
            getattr(spider, "scope", None),
            getattr(spider, "start_place", None),
            topic,
            getattr(spider, "counts_rewards", False),
            settings.getint("PAGE_BUDGET") or (topic.budget if topic is not None else None) or 0,
        )
