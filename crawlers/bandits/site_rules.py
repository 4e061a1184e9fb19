"""Site rules and rewards by name: which site is crawled next, and what its pages earn. Nothing here reads a clock.

To a rule, sites are arms that sleep while they have nothing to fetch or are not due. Its choice is a function of the
order of discovery of the arms, of the pulls started, rewarded and cancelled so far, and of the awake arms: a rule to
which the pulls of an interrupted crawl are replayed continues exactly.

The reward of a page is the number of its external links that count. Templates repeat the same links on every page of a
site; a reward that counted them every time would draw the crawl to the site with the largest footer.
"""

from __future__ import annotations

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeAlias

from crawlers.bandits.arms import ArmRule
from crawlers.errors import ConfigError
from crawlers.urls.keys import page_key, url_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from crawlers.items import ExternalLink

SiteRule: TypeAlias = ArmRule[Any]

# Of the rule `auto`:
OPTIMISM = 1.6  # factor of the bonus: less is better for sites that do not change, more for sites that do
LEARNT_OPTIMISM = 1.0  # with orders that find the rich pages of a site early, so that it need not be given more time
REWARD_CAP = 10  # in good pages; with 20, the rule stays too long at a site with one giant page
LEARNT_REWARD_CAP = 4  # likewise, with ORDER=learnt, which finds such a page early: the site has few more like it


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """The options of all rules. One page is one pull."""

    page_budget: int = 0  # pages of the whole crawl; 0: unlimited
    quantum_pages: int = 1  # roundrobin: pages per turn
    quantum_s: float = 0.0  # roundrobin: seconds per turn instead; 0: pages count
    gittins_batch: int = 10  # gittins: pages per batch, n in the paper
    ucb1_initial: int = 5  # ucb1: initial pages of every site, m in the paper
    optimism: float = OPTIMISM  # auto: factor of the bonus
    reward_cap: float = REWARD_CAP  # auto: most that a page counts, in good pages


def _rule(path: str, *options: str) -> Callable[[RuleOptions], SiteRule]:
    """Return what makes the rule "module:class" with these of the options; its module is imported then."""

    def make(given: RuleOptions) -> SiteRule:
        rule: SiteRule = resolve_name(f"crawlers.bandits.{path}")(*(getattr(given, name) for name in options))
        return rule

    return make


def _roundrobin(options: RuleOptions) -> SiteRule:
    timed = _rule("turns:TimedRoundRobin", "quantum_s")
    return (timed if options.quantum_s else _rule("turns:RoundRobin", "quantum_pages"))(options)


def _trivial(options: RuleOptions) -> SiteRule:
    if not options.page_budget:
        raise ConfigError(
            "RULE=trivial needs PAGE_BUDGET: every site gets an equal share of it; set PAGE_BUDGET or another RULE"
        )
    return _rule("index_rule:EqualShares", "page_budget")(options)


RULES: dict[str, Callable[[RuleOptions], SiteRule]] = {
    "roundrobin": _roundrobin,
    "best": _rule("index_rule:Best"),
    "sequential": _rule("turns:Sequential"),
    "trivial": _trivial,
    "gittins": _rule("index_rule:BatchGreedy", "gittins_batch"),
    "ucb1": _rule("index_rule:UCB1", "ucb1_initial"),
    "auto": _rule("index_rule:RecentUCB", "optimism", "reward_cap"),
}


@dataclass(frozen=True, slots=True)
class RewardKind:
    """The reward of a page is the number of keys that *keys* derives from its external links.

    With *only_new*, a key counts only once per site.
    """

    keys: Callable[[Iterable[ExternalLink]], set[int]]
    only_new: bool


def _urls(links: Iterable[ExternalLink]) -> set[int]:
    return {link.key for link in links}


def _hosts(links: Iterable[ExternalLink]) -> set[int]:
    """Return the keys of the hosts with their ports; http and https of one host are the same."""
    return {page_key(host) for host in {link.site.partition("://")[2] for link in links}}


def signature_with(content_signature: int, keys: Collection[int]) -> int:
    """Return the *content_signature* of a page, changed if it has *keys* of new links: such a page is not a copy.

    >>> signature_with(7, ()), signature_with(7, {5, 3}) == signature_with(7, {3, 5}) != 7
    (7, True)
    """
    return url_key(f"{content_signature} {min(keys)}") if keys else content_signature


REWARDS = {
    "new_links": RewardKind(_urls, only_new=True),  # external URLs never seen before from this site
    "links": RewardKind(_urls, only_new=False),  # distinct external URLs of the page
    "new_hosts": RewardKind(_hosts, only_new=True),  # external hosts never seen before from this site
}
