"""What a crawl did with URLs, as its settings said: for whoever explains it afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlers.bandits.site_rules import RULES, RuleOptions

if TYPE_CHECKING:
    from crawlers.bandits.site_rules import SiteRule
    from crawlers.urls.normalization import Normalization


@dataclass(frozen=True, slots=True)
class CrawlRules:
    """The normal form of URLs, the name of the site rule with its options, and the crawl's name for robots.txt."""

    normalization: Normalization
    rule: str
    rule_options: RuleOptions
    robots_token: str

    def new_rule(self) -> SiteRule | None:
        """Return the site rule as the crawl began with it; None if this version has no such rule."""
        make = RULES.get(self.rule)
        return None if make is None else make(self.rule_options)
