"""Creates the site rule and the page order that the settings select."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from crawlers.algorithms.bandits.patience import Patience
from crawlers.algorithms.bandits.recent_means import LEARNT_OPTIMISM, LEARNT_REWARD_CAP, OPTIMISM, REWARD_CAP
from crawlers.algorithms.bandits.site_rules import CRAWL_RULES, LAB_RULES, RuleOptions
from crawlers.algorithms.ranking.page_orders import LEARNING, ORDERS, PLACING, OrderOptions
from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.algorithms.bandits.site_rules import SiteRule
    from crawlers.algorithms.ranking.link_prior import LinkPrior
    from crawlers.algorithms.ranking.page_orders import PageOrder
    from crawlers.algorithms.topic.vectors import Weights
    from crawlers.inputs.setting_values import SettingValues

T = TypeVar("T")

# BeeBot's choice for each kind of site (Pechnikov, Chernobrovkin, section 4).
PROFILES = {"": "roundrobin", "universities": "ucb1", "institutes": "gittins"}


def chosen(registry: Mapping[str, T], name: str, value: str | None) -> T:
    """Return the entry of *registry* selected by the setting *name*; raises `ConfigError` for an unknown value."""
    try:
        return registry[value or ""]
    except KeyError:
        known = ", ".join(sorted(filter(None, registry)))
        raise ConfigError(f"{name}={value!r} is unknown; choose one of: {known}") from None


def rule_options(settings: SettingValues) -> RuleOptions:
    """Return the options of the rules of crawls."""
    order = settings.get("ORDER")
    return RuleOptions(
        page_budget=settings.getint("PAGE_BUDGET"),
        seed=settings.getint("RULE_SEED"),
        quantum_pages=settings.getint("ROUNDROBIN_QUANTUM_PAGES"),
        quantum_s=settings.getfloat("ROUNDROBIN_QUANTUM_SECONDS"),
        gittins_batch=settings.getint("GITTINS_BATCH_PAGES"),
        ucb1_initial=settings.getint("UCB1_INITIAL_PAGES"),
        optimism=LEARNT_OPTIMISM if order in LEARNING else OPTIMISM,
        reward_cap=LEARNT_REWARD_CAP if order in PLACING else REWARD_CAP,
    )


def rule_name(settings: SettingValues) -> str:
    """Return RULE, or the rule of PROFILE if RULE is empty; raises `ConfigError` for an unknown profile."""
    return settings.get("RULE") or chosen(PROFILES, "PROFILE", settings.get("PROFILE"))


def chosen_rule(settings: SettingValues) -> SiteRule:
    """Return the site rule of a crawl named by `rule_name`; raises `ConfigError`, also for a rule of the laboratory."""
    name = rule_name(settings)
    if name in LAB_RULES:
        raise ConfigError(
            f"RULE={name} is only for comparisons: on real sites it found on average no more links than auto, with "
            "ORDER=learnt and groups (docs/explanation/bandits.md); give RULE=auto, also to go on with an unfinished "
            f"crawl that began with RULE={name}, and compare the two by scrapy lab replay --rules auto,{name}"
        )
    return chosen(CRAWL_RULES, "RULE", name)(rule_options(settings))


def chosen_patience(settings: SettingValues) -> Patience:
    """Return how long and for which sites a crawl with a budget waits; raises `ConfigError`."""
    share = settings.getfloat("RULE_INDEX_SHARE")
    if not 0.0 <= share <= 1.0:
        raise ConfigError(
            f"RULE_INDEX_SHARE={share:g}: must be from 0 to 1; 0.9 is usual, and 0 never waits for a better site"
        )
    return Patience(share, settings.getfloat("RULE_WAIT_SECONDS"), settings.getfloat("TIMEOUT_SECONDS"))


def virtual_share(settings: SettingValues) -> float:
    """Return the share of the virtual page, in ]0, 1]; raises `ConfigError`."""
    share = settings.getfloat("AOPIC_VIRTUAL_SHARE")
    if not 0.0 < share <= 1.0:
        raise ConfigError(f"AOPIC_VIRTUAL_SHARE={share}: must be above 0 and at most 1; 0.15 is usual")
    return share


def chosen_order(
    settings: SettingValues,
    weights: Weights | None = None,
    link_prior: LinkPrior = MappingProxyType({}),
    *,
    revisits: bool = True,
) -> PageOrder:
    """Return the page order that ORDER names; raises `ConfigError`.

    *weights* are those of topics; an order that learns from links begins with the *link_prior*. Without *revisits* it
    fetches each page once.
    """
    make = chosen(ORDERS, "ORDER", settings.get("ORDER"))
    window = settings.getfloat("AOPIC_WINDOW_VISITS")
    weight = settings.getfloat("AOPIC_UNCRAWLED_WEIGHT")
    if not window > 0.0:
        raise ConfigError(f"AOPIC_WINDOW_VISITS={window}: must be above 0; 2 to 4 are usual")
    if not weight >= 1.0:
        raise ConfigError(f"AOPIC_UNCRAWLED_WEIGHT={weight}: must be at least 1; 1 treats all pages alike")
    shares = [settings.getfloat(name) for name in ("EXPLORE_SHARE", "ARCHIVE_SHARE")]
    if sum(shares) > 1.0:
        raise ConfigError(
            f"EXPLORE_SHARE={shares[0]:g} and ARCHIVE_SHARE={shares[1]:g} are shares of the same downloads; "
            "their sum must be at most 1"
        )
    options = OrderOptions(
        settings.getint("RULE_SEED"),
        virtual_share(settings),
        window,
        weight,
        else_factor=settings.getfloat("FIT_ELSE_FACTOR"),
        explore_share=shares[0],
        archive_share=shares[1],
        link_prior=link_prior,
        revisits=revisits,
    )
    return make(options if weights is None else replace(options, weights=weights))
