"""The settings of one crawl that people choose as they start it, with the comments of settings.py as documentation.

They are those that decide what a crawl does. What belongs to the machine (the store, programs, addresses, code) is not
among them. Those that name files are recorded with a crawl, but the panel takes none, so that whoever may start crawls
there can neither read nor write anything else.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlers import settings
from crawlers.algorithms.typed_values import typed
from crawlers.errors import ConfigError
from crawlers.inputs.link_prior_file import LINK_PRIOR, WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES = ("RESULT_FOLDER", "STOP_FILE", "WARC_FILE", "COMMON_LOG_FILE", "ERROR_LOG_FILE", "DOCUMENTS_PARQUET")
OF_SCRAPY = (
    "USER_AGENT",
    "ROBOTSTXT_OBEY",
    "CONCURRENT_REQUESTS",
    "DOWNLOAD_TIMEOUT",
    "DOWNLOAD_MAXSIZE",
    "RETRY_TIMES",
    "COOKIES_ENABLED",
    "LOG_LEVEL",
)
OF_THE_MACHINE = frozenset(
    {
        *("SETTINGS_FILE", "DATABASE_URL", "CRAWL", "DOCUMENT_KEYS_URL", "RENDER_BROWSER", "URL_IP_NAMES"),
        "PUBLIC_SUFFIX_LIST",
        *("REFUSE_PRIVATE_ADDRESSES", "METRICS_PORT", "METRICS_ADDRESS", "WEB_PASSWORD", "WEB_HOSTS", "SCRAPYD_URL"),
        *("PROGRESS_ENABLED", "PROGRESS_INTERVAL_SECONDS", "LOG_JSON"),
    }
)
MAX_VALUE = 2000  # characters
_LINE = re.compile(r"([A-Z][A-Z0-9_]+)(?:: [^=]+)? = (?:.*?)(?:  # (.*))?")
_SCRAPY_GROUP = "Scrapy"


class OfferedSetting(NamedTuple):
    """A setting with its default value and what its comment says."""

    name: str
    group: str  # the heading above it
    comment: str
    default: Any

    @property
    def default_text(self) -> str:
        """The default as it is typed."""
        return typed(self.default)


@cache
def offered_settings() -> Mapping[str, OfferedSetting]:
    """Return the settings by name, in the order of settings.py."""
    found: dict[str, OfferedSetting] = {}
    group, above = "", list[str]()
    for line in inspect.getsource(settings).splitlines():
        if line.startswith("# "):
            above.append(line[2:])
        elif not line and above:  # a comment alone between empty lines is a heading, or belongs to the next setting
            group, above = (above[0].partition(":")[0], []) if len(above) == 1 else (group, above)
        elif match := _LINE.fullmatch(line):
            name, comment = match[1], "; ".join(filter(None, [" ".join(above), match[2]]))
            if name in OF_SCRAPY or (group != _SCRAPY_GROUP and name not in OF_THE_MACHINE):
                found[name] = OfferedSetting(name, group, comment, vars(settings)[name])
            above = []
    return found


def check_offered(given: Mapping[str, str]) -> dict[str, str]:
    """Return what is wrong with settings that are *given* in the panel, by name: those not offered, and files.

    Everything else is checked by the crawl itself before it begins.
    """
    problems: dict[str, str] = {}
    for name, value in given.items():
        try:
            _check(name, value)
        except ConfigError as error:
            problems[name] = str(error)
    return problems


def _check(name: str, value: str) -> None:
    if name not in offered_settings() or name in FILES:
        raise ConfigError(f"{name} can't be set here; start the crawl in a terminal")
    if len(value) > MAX_VALUE:
        raise ConfigError(f"{name} has {len(value):,} characters; write at most {MAX_VALUE:,}")
    if not value.isprintable():
        raise ConfigError(f"{name} has characters that can't be printed; write it on one line")
    if name == LINK_PRIOR and value not in WORDS:
        raise ConfigError(f"{name}={value} can't be set here; write {' or '.join(WORDS)}")
