"""Creates the site rule and the page order that the settings select."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from crawlers.bandits.patience import Patience
from crawlers.bandits.site_rules import (
    LEARNT_OPTIMISM,
    LEARNT_REWARD_CAP,
    OPTIMISM,
    REWARD_CAP,
    RULES,
    RuleOptions,
)
from crawlers.errors import ConfigError
from crawlers.mission import missions
from crawlers.ranking.page_orders import LEARNING, ORDERS, REWARDS, OrderOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.bandits.site_rules import SiteRule
    from crawlers.inputs.setting_values import SettingValues
    from crawlers.mission import Mission, OwnOrder
    from crawlers.ranking.link_prior import LinkPrior
    from crawlers.ranking.page_orders import PageOrder

T = TypeVar("T")

# The share of the best index that a site needs while better ones rest: docs/explanation/bandits.md says what others do.
INDEX_SHARE = 0.9
# BeeBot's choice for each kind of site (Pechnikov, Chernobrovkin, section 4).
PROFILES = {"": "roundrobin", "universities": "ucb1", "institutes": "gittins"}


def registry_entry(registry: Mapping[str, T], name: str, value: str | None) -> T:
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
        quantum_pages=settings.getint("ROUNDROBIN_QUANTUM_PAGES"),
        quantum_s=settings.getfloat("ROUNDROBIN_QUANTUM_SECONDS"),
        gittins_batch=settings.getint("GITTINS_BATCH_PAGES"),
        ucb1_initial=settings.getint("UCB1_INITIAL_PAGES"),
        optimism=LEARNT_OPTIMISM if order in LEARNING else OPTIMISM,
        reward_cap=LEARNT_REWARD_CAP if order in LEARNING else REWARD_CAP,
    )


def rule_name(settings: SettingValues) -> str:
    """Return RULE, or the rule of PROFILE if RULE is empty; raises `ConfigError` for an unknown profile."""
    return settings.get("RULE") or registry_entry(PROFILES, "PROFILE", settings.get("PROFILE"))


def chosen_rule(settings: SettingValues) -> SiteRule:
    """Return the site rule of a crawl named by `rule_name`; raises `ConfigError`."""
    return registry_entry(RULES, "RULE", rule_name(settings))(rule_options(settings))


def chosen_patience(settings: SettingValues) -> Patience:
    """Return how long and for which sites a crawl with a budget waits."""
    return Patience(INDEX_SHARE, settings.getfloat("RULE_WAIT_SECONDS"), settings.getfloat("TIMEOUT_SECONDS"))


def own_orders() -> dict[str, tuple[Mission, OwnOrder]]:
    """Return the orders that missions add, by name."""
    return {name: (mission, order) for mission in missions().values() for name, order in mission.orders.items()}


def order_names() -> list[str]:
    """Return the names of all orders."""
    return [*ORDERS, *own_orders()]


def needs_of(name: str) -> str | None:
    """Return what the order *name* needs of a mission, None if nothing. Raises `ConfigError` if it is unknown."""
    needs = {one: REWARDS if one in LEARNING else None for one in ORDERS}
    return registry_entry({**needs, **{one: order.needs for one, (_, order) in own_orders().items()}}, "ORDER", name)


def chosen_order(
    settings: SettingValues,
    gives: Mapping[str, Any] = MappingProxyType({}),
    link_prior: LinkPrior = MappingProxyType({}),
    *,
    revisits: bool = True,
) -> PageOrder:
    """Return the page order that ORDER names, which needs nothing that the mission does not give.

    An order that learns from links begins with the *link_prior*. Without *revisits* it fetches each page once.
    """
    name = settings.get("ORDER")
    if name not in ORDERS:
        mission, order = own_orders()[name]
        made: PageOrder = mission.part(order.function)(settings, gives[order.needs])
        return made
    options = OrderOptions(
        virtual_share=settings.getfloat("AOPIC_VIRTUAL_SHARE"),
        window=settings.getfloat("AOPIC_WINDOW_VISITS"),
        uncrawled_weight=settings.getfloat("AOPIC_UNCRAWLED_WEIGHT"),
        link_prior=link_prior,
        revisits=revisits,
    )
    return ORDERS[name](options)
