"""Names the component of a user that Scrapy can't import or build; Scrapy itself shows a traceback."""

from __future__ import annotations

import re
from collections.abc import Mapping
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

_OF_USER = re.compile(r"(?!crawlers\.|scrapy\.)\w+(\.\w+)+")


def faulty_component(error: BaseException, settings: BaseSettings) -> ConfigError | None:
    """Return what to say about the component of *settings* that was loaded as *error* was raised; None if none was."""
    setting_of = {path: name for name, value in settings.items() for path in _paths(value)}
    for frame, _ in reversed([*walk_tb(error.__traceback__)]):
        is_scrapys = frame.f_globals["__name__"].startswith("scrapy.")  # whose variables have paths and classes
        for path in _paths([type(frame.f_locals.get("self")), *(frame.f_locals.values() if is_scrapys else ())]):
            if path in setting_of:
                what = f"{type(error).__name__} {error}".strip()
                return ConfigError(f"{setting_of[path]} names {path}, which fails: {what}; correct it")
    return None


def _paths(value: Any) -> Iterator[str]:
    """Yield the paths of the classes of users that the *value* of a setting names."""
    named = (*value, *value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else [value]
    for one in named:
        path = f"{one.__module__}.{one.__qualname__}" if isinstance(one, type) else one
        if isinstance(path, str) and _OF_USER.fullmatch(path):
            yield path
