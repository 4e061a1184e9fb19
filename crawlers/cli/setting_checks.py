"""Checks the numbers and switches that users set, before a command starts."""

from __future__ import annotations

import difflib
import math
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.settings import default_settings as scrapy_defaults

from crawlers import settings as defaults
from crawlers.algorithms.ranking.page_orders import ORDERS, PLACING
from crawlers.errors import ConfigError
from crawlers.inputs.client_settings import http_client
from crawlers.inputs.link_prior_file import LINK_PRIOR
from crawlers.inputs.offered_settings import FILES
from crawlers.inputs.text_file import shortened_list
from crawlers.inputs.url_settings import url_selection
from crawlers.storage.database import store_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy.settings import BaseSettings

AT_LEAST_ONE = {
    "CONCURRENT_ITEMS",
    "CONCURRENT_REQUESTS",
    "CONCURRENT_REQUESTS_PER_DOMAIN",
    "EXTRACTION_PROCESSES",
    "FRONTIER_CACHE_URLS",
    "FRONTIER_HEAD_URLS",
    "GITTINS_BATCH_PAGES",
    "RENDER_MEMORY_MB",
    "RENDER_PAGES",
    "REWARD_CACHE_KEYS",
    "REACTOR_THREADPOOL_MAXSIZE",
    "ROUNDROBIN_QUANTUM_PAGES",
    "SITEMAPS_MAX_FILES",
    "SITEMAPS_MAX_URLS",
    "SITE_PARALLEL",
    "STORE_BATCH_PAGES",
    "UCB1_INITIAL_PAGES",
    "WORKERS",
}
AT_MOST = {"WORKERS": 256}  # of one machine
ABOVE_ZERO = {
    "DNS_TIMEOUT",
    "DOWNLOAD_TIMEOUT",
    "EXTRACTION_TIMEOUT_SECONDS",
    "FEED_DEADLINE_SECONDS",
    "FEED_MAX_SECONDS",
    "FEED_MIN_SECONDS",
    "FEED_POLLS_PER_SECOND",
    "RENDER_TIMEOUT_SECONDS",
    "RENDER_VIRTUAL_SECONDS",
    "WORKER_DEADLINE_SECONDS",
}
SIGNED = {  # settings of Scrapy whose values may be negative, or None
    "DEPTH_PRIORITY",
    "FEED_EXPORT_INDENT",
    "REDIRECT_PRIORITY_ADJUST",
    "RETRY_PRIORITY_ADJUST",
}
RESERVED = {"FRONTIER_URL"}  # for later versions
CMDLINE = SETTINGS_PRIORITIES["cmdline"]

_QUEUES = "URLs wait in the store: ORDER and RULE choose the next one"
_DUPLICATES = "the store knows each URL: the settings URL_* say which ones are equal"
WITHOUT_EFFECT = {  # settings of Scrapy whose components the scheduler replaces, and what to use instead
    "DUPEFILTER_CLASS": _DUPLICATES,
    "DUPEFILTER_DEBUG": _DUPLICATES,
    "ROBOTSTXT_PARSER": "robots.txt is read by protego; ROBOTSTXT_OBEY=0 ignores it",
    "SCHEDULER_DEBUG": _QUEUES,
    "SCHEDULER_DISK_QUEUE": _QUEUES,
    "SCHEDULER_MEMORY_QUEUE": _QUEUES,
    "SCHEDULER_PRIORITY_QUEUE": _QUEUES,
    "SCHEDULER_START_DISK_QUEUE": _QUEUES,
    "SCHEDULER_START_MEMORY_QUEUE": _QUEUES,
}
_ERRORS = "a page with an error status is not read; scrapy explain URL shows the status"
_REDIRECTS = "redirects between pages of the crawl are always followed"
_REFERERS = "requests have no Referer; DEFAULT_REQUEST_HEADERS can add one"
_REFRESHES = "LINK_TAGS=a,meta follows refreshes"
_RETRIES = "RETRY_TIMES and RETRY_REST_TIMES are the numbers of retries"
WITHOUT_EFFECT_ON_MISSIONS = {  # likewise settings of middlewares that `SiteSpider` switches off
    "CRAWLSPIDER_FOLLOW_LINKS": "MAX_LEVEL=0 reads home pages only",
    "DEPTH_LIMIT": "MAX_LEVEL is the deepest level that is fetched",
    "DEPTH_PRIORITY": "ORDER says which page is fetched next",
    "DEPTH_STATS_VERBOSE": "the table page and the graphs have the level of each page",
    "HTTPERROR_ALLOWED_CODES": _ERRORS,
    "HTTPERROR_ALLOW_ALL": _ERRORS,
    "JOBDIR": "DATABASE_URL keeps what is needed to resume a crawl, and CRAWL is its name",
    "METAREFRESH_ENABLED": _REFRESHES,
    "METAREFRESH_IGNORE_TAGS": _REFRESHES,
    "METAREFRESH_MAXDELAY": _REFRESHES,
    "REDIRECT_ENABLED": _REDIRECTS,
    "REDIRECT_MAX_TIMES": _REDIRECTS,
    "REDIRECT_PRIORITY_ADJUST": _REDIRECTS,
    "REFERER_ENABLED": _REFERERS,
    "REFERRER_POLICIES": _REFERERS,
    "REFERRER_POLICY": _REFERERS,
    "RETRY_ENABLED": f"{_RETRIES}, 0 for none",
    "RETRY_EXCEPTIONS": _RETRIES,
    "RETRY_GIVE_UP_LOG_LEVEL": "ERROR_LOG_FILE lists pages that failed",
    "RETRY_HTTP_CODES": _RETRIES,
    "RETRY_PRIORITY_ADJUST": _RETRIES,
    "URLLENGTH_LIMIT": "URLs above 8,192 characters are not followed",
}
OR_NONE = {
    "MAX_LEVEL": 0,
    "PROGRESS_ENABLED": False,
}  # settings whose default is None, with an example of another value


def types_of_settings() -> dict[str, Any]:
    """Return an example of the type of each setting, of ours and of Scrapy's; None: any type."""
    scrapys = {name: getattr(scrapy_defaults, name) for name in dir(scrapy_defaults) if name.isupper()}
    ours = {name: OR_NONE.get(name, getattr(defaults, name)) for name in dir(defaults) if name.isupper()}
    return scrapys | ours


def check_settings(settings: BaseSettings) -> None:
    """Raise `ConfigError` with all unknown names, and all numbers and switches that are not ones."""
    texts = [*_wrong_texts(settings)]
    examples = {name: OR_NONE.get(name, getattr(defaults, name)) for name in dir(defaults) if name.isupper()}
    examples |= {name: 0.0 for name in scrapys_numbers() if settings.getpriority(name) == CMDLINE}
    checks: list[Callable[[], object]] = [partial(_check, name, one, settings) for name, one in examples.items()]
    checks += [partial(http_client, settings), partial(_check_outputs, settings)]
    if not texts:  # RE2 takes valid text only
        checks.insert(0, partial(url_selection, settings))
    problems = [*_wrong_names(settings), *texts]
    for check in checks:
        try:
            check()
        except ConfigError as error:
            problems.append(str(error))
    if problems:
        raise ConfigError("\n".join(shortened_list(problems)))


def _check_outputs(settings: BaseSettings) -> None:
    """Raise `ConfigError` for a file that is the store, or outside of the folder of the crawl.

    Whoever gives full paths has the results in another folder, and the files beside them or beside the store.
    """
    store = store_path(settings.get("DATABASE_URL"))
    of_store = [] if store is None else [f"{os.path.realpath(store)}{ending}" for ending in ("", "-wal", "-shm")]
    folders = {Path.cwd(), *([] if store is None else [store.absolute().parent])}
    for name in FILES:
        given = settings.get(name)
        if not given:
            continue
        path = Path(os.path.normpath(Path(given).absolute()))
        if os.path.realpath(path) in of_store:
            raise ConfigError(f"{name}={given} is the store; name another file")
        if name == "STOP_FILE":  # nothing is written to it
            continue
        if name == "RESULT_FOLDER" and Path(given).is_absolute():
            folders.add(path)
        elif not any(path.is_relative_to(folder) for folder in folders):
            raise ConfigError(f"{name}={given} is outside of the folder of the crawl; name a file below {Path.cwd()}")


def scrapys_numbers() -> list[str]:
    """Return the settings of Scrapy that are numbers of 0 or more; most of them are read as fractions as well."""
    return [
        name
        for name, value in vars(scrapy_defaults).items()
        if type(value) in (int, float) and name.isupper() and name not in SIGNED and not name.endswith("_ENABLED")
    ]


def _wrong_names(settings: BaseSettings) -> Iterator[str]:
    """Yield what is wrong with names that are nearly those of settings, or reserved: Scrapy would ignore them."""
    known = types_of_settings().keys()
    for name in settings:
        if settings.getpriority(name) != CMDLINE or name in known:
            continue
        near = difflib.get_close_matches(name.upper(), known, n=1, cutoff=0.85)
        if name in RESERVED:
            yield f"{name} has no effect yet; leave it out"
        elif near:
            yield f"Unknown setting {name}; did you mean {near[0]}?"
        elif not name.isupper():  # those in capitals may be read by components of a user
            yield f"Unknown setting {name}; names of settings are in capitals, such as MAX_LEVEL"


def check_effects(settings: BaseSettings, *, is_mission: bool) -> None:
    """Raise `ConfigError` for a setting without effect: of Scrapy, on the scheduler or on a spider of ours; LINK_PRIOR.

    *settings* are those of the crawl, with the ORDER of its spider.
    """
    without = {**WITHOUT_EFFECT, **(WITHOUT_EFFECT_ON_MISSIONS if is_mission else {})}
    for name, remedy in without.items():
        if _is_given(name, settings):
            raise ConfigError(f"{name} has no effect here; {remedy}")
    check_link_prior(settings.get("ORDER"), settings)


def check_link_prior(order: str, settings: BaseSettings) -> None:
    """Raise `ConfigError` if the command gives LINK_PRIOR, but *order* does not learn from links."""
    if order in ORDERS and order not in PLACING and _is_given(LINK_PRIOR, settings):
        raise ConfigError(
            f"{LINK_PRIOR} has no effect here; it is for ORDER=learnt of scrapy crawl extlinks, and here "
            f"ORDER={order}: leave it out"
        )


def _is_given(name: str, settings: BaseSettings) -> bool:
    return name in settings and settings.getpriority(name) == CMDLINE


def _wrong_texts(settings: BaseSettings) -> Iterator[str]:
    """Yield values that are not valid text: a terminal may pass any bytes, but databases and file names can't."""
    for name in settings:
        value = settings.get(name) if settings.getpriority(name) == CMDLINE else None
        if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
            yield f"{name}={value!r} is not valid text; write it in UTF-8"


def _check(name: str, example: Any, settings: BaseSettings) -> None:
    value = settings.get(name)
    if name in OR_NONE and value in (None, "", "None"):
        return
    if isinstance(example, bool):
        try:
            settings.getbool(name)
        except ValueError:
            raise ConfigError(f"{name}={value!r} must be 0 or 1") from None
    elif isinstance(example, (int, float)):
        least = 1 if name in AT_LEAST_ONE else 0
        kind = "whole number" if isinstance(example, int) else "number"
        most = AT_MOST.get(name, math.inf)
        if name in AT_MOST:
            wanted = f"a {kind} from {least} to {most}"
        else:
            wanted = "a number above 0" if name in ABOVE_ZERO else f"a {kind} of {least} or more"
        try:
            number = type(example)(value)
        except (TypeError, ValueError):
            number = math.nan
        if math.isnan(number):
            raise ConfigError(f"{name}={value!r} is not a {kind}; write {wanted}")
        is_infinite = number == math.inf and name != "AOPIC_UNCRAWLED_WEIGHT"
        if not least <= number <= most or is_infinite or (name in ABOVE_ZERO and number == 0):
            raise ConfigError(f"{name}={value!r} is out of range; write {wanted}")
