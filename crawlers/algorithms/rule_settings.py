"""Makes the site rule that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from crawlers.algorithms.site_rules import RULES, RuleOptions
from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.algorithms.site_rules import SiteRule

T = TypeVar("T")

# BeeBot's choice by the kind of sites (Pechnikov, Chernobrovkin, section 4).
PROFILES = {"": "roundrobin", "universities": "ucb1", "institutes": "gittins"}


class Settings(Protocol):
    """As Scrapy's settings are asked."""

    def get(self, name: str) -> Any: ...
    def getint(self, name: str) -> int: ...
    def getfloat(self, name: str) -> float: ...


def chosen(registry: Mapping[str, T], name: str, value: str | None) -> T:
    """The entry of *registry* that the setting *name* names; raises `ConfigError` for an unknown one."""
    try:
        return registry[value or ""]
    except KeyError:
        known = ", ".join(sorted(filter(None, registry)))
        raise ConfigError(f"{name}={value!r} is unknown; known are: {known}") from None


def rule_options(settings: Settings) -> RuleOptions:
    """What the settings tell every rule."""
    return RuleOptions(
        page_budget=settings.getint("PAGE_BUDGET"),
        seed=settings.getint("RULE_SEED"),
        quantum_pages=settings.getint("ROUNDROBIN_QUANTUM_PAGES"),
        quantum_s=settings.getfloat("ROUNDROBIN_QUANTUM_SECONDS"),
        gittins_batch=settings.getint("GITTINS_BATCH_PAGES"),
        ucb1_initial=settings.getint("UCB1_INITIAL_PAGES"),
        raw_ucb_c=settings.getfloat("RAW_UCB_C"),
    )


def rule_name(settings: Settings) -> str:
    """What RULE says, else PROFILE; raises `ConfigError` for a profile that is unknown."""
    return settings.get("RULE") or chosen(PROFILES, "PROFILE", settings.get("PROFILE"))


def chosen_rule(settings: Settings) -> SiteRule:
    """The rule of `rule_name`; raises `ConfigError`."""
    return chosen(RULES, "RULE", rule_name(settings))(rule_options(settings))
