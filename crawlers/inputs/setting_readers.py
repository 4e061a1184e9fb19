"""Makes of settings what the program works with: normal forms, selections of URLs, rules, orders, names, the browser.

Code without Scrapy reads settings by the interface `SettingValues`, which Scrapy's settings implement.
"""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from crawlers.bandits.arms import Patience
from crawlers.bandits.site_rules import LEARNT_OPTIMISM, LEARNT_REWARD_CAP, OPTIMISM, REWARD_CAP, RULES, RuleOptions
from crawlers.errors import ConfigError, CrawlersError
from crawlers.files.atomic import check_setting_file
from crawlers.files.text_file import quoted, read_text
from crawlers.mission import missions
from crawlers.ranking.page_orders import LEARNING, ORDERS, REWARDS, OrderOptions
from crawlers.urls.domains import suffix_list, use_suffixes
from crawlers.urls.normalization import Normalization, named_steps

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from crawlers.bandits.site_rules import SiteRule
    from crawlers.items import SiteLimits
    from crawlers.mission import Mission, OwnOrder
    from crawlers.ranking.link_features import LinkPrior
    from crawlers.ranking.page_orders import PageOrder
    from crawlers.urls.url_expressions import UrlSelection


class SettingValues(Protocol):
    """The methods of Scrapy's settings that read one setting."""

    def get(self, name: str) -> Any: ...
    def getbool(self, name: str) -> bool: ...
    def getint(self, name: str) -> int: ...
    def getfloat(self, name: str) -> float: ...
    def getlist(self, name: str) -> list[Any]: ...
    def getdict(self, name: str) -> dict[Any, Any]: ...


MOST_LIST_BYTES = 10_000_000  # thirty times the Public Suffix List


def url_steps(settings: SettingValues) -> dict[str, bool]:
    """Return which steps URL_NORMALIZATION names; raises `ConfigError` for an unknown one."""
    return named_steps(name.strip() for name in settings.getlist("URL_NORMALIZATION") if name.strip())


def normalization(settings: SettingValues) -> Normalization:
    """Return the normal form that *settings* describe; raises `ConfigError` for an unknown step."""
    return Normalization(
        **url_steps(settings),
        ip_names=settings.getdict("URL_IP_NAMES"),
        ignored_parameters=tuple(settings.getlist("URL_IGNORED_PARAMETERS")),
    )


def recorded(options: Normalization) -> dict[str, str]:
    """Return *options* as settings, in one notation: the keys of a crawl depend on them.

    >>> recorded(Normalization(ignored_parameters=("ref",)))["URL_IGNORED_PARAMETERS"]
    "['ref']"
    """
    return {
        "URL_NORMALIZATION": str([name for name in named_steps(()) if getattr(options, name)]),
        "URL_IP_NAMES": str(options.ip_names),
        "URL_IGNORED_PARAMETERS": str(list(options.ignored_parameters)),
    }


KNOWN_TAGS = frozenset({"a", "area", "frame", "iframe", "link", "meta"})


def link_tags(settings: SettingValues) -> frozenset[str]:
    """Return the tags of `LINK_TAGS`; raises `ConfigError` for an unknown one."""
    tags = frozenset(tag.strip().lower() for tag in settings.getlist("LINK_TAGS") if tag.strip())
    if not tags or tags - KNOWN_TAGS:
        unknown = ", ".join(sorted(tags - KNOWN_TAGS)) or "nothing"
        raise ConfigError(f"LINK_TAGS names {unknown}; choose one of: {', '.join(sorted(KNOWN_TAGS))}")
    return tags


def log_paths(settings: SettingValues) -> dict[str, Path | None]:
    """Return the paths of the two logs by setting; raises `ConfigError` if one can't be written."""
    paths = {name: settings.get(name) for name in ("COMMON_LOG_FILE", "ERROR_LOG_FILE")}
    for name, path in paths.items():
        if path:
            check_setting_file(name, path)
    return {name: Path(path) if path else None for name, path in paths.items()}


def url_selection(settings: SettingValues) -> UrlSelection | None:
    """Return the selection by `URL_INCLUDE` and `URL_EXCLUDE`, None for any URL.

    Raises `ConfigError` for an invalid expression.
    """
    include, exclude = (
        [expression for expression in map(str, settings.getlist(name)) if expression.strip()]
        for name in ("URL_INCLUDE", "URL_EXCLUDE")
    )
    if not include and not exclude:
        return None
    from crawlers.urls.url_expressions import UrlSelection  # with RE2, which few crawls need

    return UrlSelection(include, exclude)


def use_suffix_list(settings: SettingValues) -> None:
    """Use the list that PUBLIC_SUFFIX_LIST names in this process; raises `ConfigError`."""
    path = settings.get("PUBLIC_SUFFIX_LIST")
    try:
        text = read_text(path, MOST_LIST_BYTES, "name a Public Suffix List") if path else ""
        use_suffixes(suffix_list(text) if path else None)
    except (CrawlersError, ValueError) as error:  # `BadUrl` for a suffix that no host has
        raise ConfigError(f"PUBLIC_SUFFIX_LIST={quoted(path)}: {error}") from error


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


def check_order(name: str, mission: str, gives: Container[str], rule: SiteRule) -> None:
    """Raise `ConfigError` if the order *name* needs what the *mission* does not give, or another *rule*."""
    needs = needs_of(name)
    if needs is not None and needs not in gives:
        known = missions()
        starts = " or ".join(one.start for one in known.values() if needs in one.gives)
        instead = known[mission].instead.get(name) if mission in known else None
        use = instead or f"use it with {starts or 'another mission'}"
        raise ConfigError(f"ORDER={name} needs {needs}, which {mission} does not have; {use}")
    if name in LEARNING and rule.weighs_pages:
        raise ConfigError(
            f"RULE=best compares the best pages of all sites, whose values change with every page under ORDER={name}; "
            "use RULE=auto"
        )


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
        made: PageOrder = mission.resolve(order.function)(settings, gives[order.needs])
        return made
    options = OrderOptions(
        virtual_share=settings.getfloat("AOPIC_VIRTUAL_SHARE"),
        window=settings.getfloat("AOPIC_WINDOW_VISITS"),
        uncrawled_weight=settings.getfloat("AOPIC_UNCRAWLED_WEIGHT"),
        link_prior=link_prior,
        revisits=revisits,
    )
    return ORDERS[name](options)


KINDS = {"": False, "none": False, "playwright": True}  # values of RENDER; of the field `render` all but the first
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def are_any_rendered(settings: SettingValues, sites: Iterable[SiteLimits]) -> bool:
    """Return whether RENDER, or the field `render` of any of the *sites*, names a browser."""
    return any(map(KINDS.get, [settings.get("RENDER"), *(one.options.get("render", "") for one in sites)]))


class RenderedSites:
    """The sites whose pages are rendered: by RENDER, and by the field `render` of *sites*.

    Raises `ConfigError` if there are any, and the extra or the browser is missing.
    """

    def __init__(self, settings: SettingValues, sites: Iterable[SiteLimits]) -> None:
        self._default = registry_entry(KINDS, "RENDER", settings.get("RENDER"))
        self._sites = {one.site: KINDS[one.options["render"]] for one in sites if "render" in one.options}
        self.browser = browser_path(settings) if self.are_any else ""  # path of the program

    @property
    def are_any(self) -> bool:
        return self._default or any(self._sites.values())

    def __contains__(self, site: str) -> bool:
        return self._sites.get(site, self._default)


def browser_path(settings: SettingValues) -> str:
    """Return the path of RENDER_BROWSER, or of the first installed one of PROGRAMS; raises `ConfigError`."""
    if find_spec("playwright") is None:
        raise ConfigError(
            "RENDER=playwright needs further packages; install the project again, with them, from the folder of its "
            "source: pip install '/path/to/crawlers-project[render]', or, if pipx installed it: pipx install --force "
            "'/path/to/crawlers-project[render]'"
        )
    named = settings.get("RENDER_BROWSER")
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None and named:
        raise ConfigError(f"RENDER_BROWSER={named}: there is no such program; give the path of Chromium")
    if found is None:
        raise ConfigError(
            "RENDER=playwright needs Chromium, which is not on PATH; install it, or give its path with RENDER_BROWSER"
        )
    return str(Path(found).absolute())


def shows_progress(settings: SettingValues) -> bool:
    """Return whether PROGRESS_ENABLED, or a terminal at standard error, asks for a live display."""
    wanted = settings.get("PROGRESS_ENABLED")
    return sys.stderr.isatty() if wanted in (None, "") else settings.getbool("PROGRESS_ENABLED")


def crawl_name(settings: SettingValues | Mapping[str, Any], spider: str) -> str:
    """Return the name of the crawl of the *spider* with that name; CRAWL may give it another one.

    >>> crawl_name({"CRAWL": ""}, "news"), crawl_name({"CRAWL": "press"}, "news")
    ('news', 'press')
    """
    return settings.get("CRAWL") or spider


def named_by(option: str | None, settings: SettingValues | Mapping[str, Any]) -> str | None:
    """Return the name of the crawl that a command reads; None = the latest one.

    >>> named_by("press", {"CRAWL": "news"}), named_by(None, {"CRAWL": "news"}), named_by(None, {"CRAWL": ""})
    ('press', 'news', None)
    """
    return option or settings.get("CRAWL") or None
