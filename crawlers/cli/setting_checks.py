"""Checks the numbers and switches that users set, before a command starts."""

from __future__ import annotations

import difflib
import math
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.settings import default_settings as scrapy_defaults

from crawlers import settings as defaults
from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

AT_LEAST_ONE = {
    "CONCURRENT_REQUESTS",
    "CONCURRENT_REQUESTS_PER_DOMAIN",
    "EXTRACTION_PROCESSES",
    "FRONTIER_CACHE_URLS",
    "FRONTIER_HEAD_URLS",
    "GITTINS_BATCH_PAGES",
    "REWARD_CACHE_KEYS",
    "ROUNDROBIN_QUANTUM_PAGES",
    "SITE_PARALLEL",
    "STORE_BATCH_PAGES",
    "UCB1_INITIAL_PAGES",
}
ABOVE_ZERO = {
    "EXTRACTION_TIMEOUT_SECONDS",
    "FEED_DEADLINE_SECONDS",
    "FEED_MAX_SECONDS",
    "FEED_MIN_SECONDS",
    "FEED_POLLS_PER_SECOND",
}
RESERVED = {"FRONTIER_URL"}  # for later versions
CMDLINE = SETTINGS_PRIORITIES["cmdline"]
OR_NONE = {
    "MAX_LEVEL": 0,
    "PROGRESS_ENABLED": False,
}  # settings whose default is None, with an example of another value


def check_settings(settings: BaseSettings) -> None:
    """Raise `ConfigError` for the first of our settings that must be a number or a switch and is not."""
    _check_names(settings)
    _check_texts(settings)
    for name in dir(defaults):
        if name.isupper():
            _check(name, OR_NONE.get(name, getattr(defaults, name)), settings)


def _check_names(settings: BaseSettings) -> None:
    """Refuse names that are nearly those of settings, and reserved ones: Scrapy would silently ignore them."""
    known = {name for name in (*dir(defaults), *dir(scrapy_defaults)) if name.isupper()}
    for name in settings:
        if settings.getpriority(name) != CMDLINE or name in known:
            continue
        if name in RESERVED:
            raise ConfigError(f"{name} has no effect yet; leave it out")
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
        if near:
            raise ConfigError(f"Unknown setting {name}; did you mean {near[0]}?")


def _check_texts(settings: BaseSettings) -> None:
    """Refuse values that are not valid text: a terminal may pass any bytes, but databases and file names can't."""
    for name in settings:
        value = settings.get(name) if settings.getpriority(name) == CMDLINE else None
        if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
            raise ConfigError(f"{name}={value!r} is not valid text; write it in UTF-8")


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
        wanted = "a number above 0" if name in ABOVE_ZERO else f"a {kind} of {least} or more"
        try:
            number = type(example)(value)
        except (TypeError, ValueError):
            number = math.nan
        if math.isnan(number):
            raise ConfigError(f"{name}={value!r} is not a {kind}; write {wanted}")
        is_infinite = number == math.inf and name != "AOPIC_UNCRAWLED_WEIGHT"
        if number < least or is_infinite or (name in ABOVE_ZERO and number == 0):
            raise ConfigError(f"{name}={value!r} is out of range; write {wanted}")
