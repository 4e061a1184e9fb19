"""Looks at the numbers and switches that users type, before anything begins."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from crawlers import settings as defaults
from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

AT_LEAST_ONE = {
    "CONCURRENT_REQUESTS",
    "CONCURRENT_REQUESTS_PER_DOMAIN",
    "FRONTIER_CACHE_URLS",
    "FRONTIER_HEAD_URLS",
    "SITE_PARALLEL",
    "STORE_BATCH_PAGES",
}
OR_NONE = {
    "MAX_LEVEL": 0,
    "PROGRESS_ENABLED": False,
}  # settings whose default is None, with what else they are


def check_settings(settings: BaseSettings) -> None:
    """Raise `ConfigError` for the first of our settings that must be a number or a switch and is none."""
    for name in dir(defaults):
        if name.isupper():
            _check(name, OR_NONE.get(name, getattr(defaults, name)), settings)


def _check(name: str, example: Any, settings: BaseSettings) -> None:
    value = settings.get(name)
    if name in OR_NONE and value in (None, "", "None"):
        return
    if isinstance(example, bool):
        try:
            settings.getbool(name)
        except ValueError:
            raise ConfigError(f"{name}={value!r} is no switch; write 1 or 0") from None
    elif isinstance(example, (int, float)):
        least = 1 if name in AT_LEAST_ONE else 0
        kind = "whole number" if isinstance(example, int) else "number"
        try:
            number = type(example)(value)
        except (TypeError, ValueError):
            number = math.nan
        if not least <= number < math.inf:
            raise ConfigError(f"{name}={value!r} is out of range; write a {kind} of {least} or more")
