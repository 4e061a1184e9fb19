"""Reads the settings of URLs: the steps of their normal form, and the selection of those that are fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.errors import ConfigError, CrawlersError
from crawlers.files.text_file import quoted, read_text
from crawlers.urls.domains import suffix_list, use_suffixes
from crawlers.urls.normalization import Normalization, named_steps
from crawlers.urls.url_selection import UrlSelection

if TYPE_CHECKING:
    from crawlers.inputs.setting_values import SettingValues

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


def url_selection(settings: SettingValues) -> UrlSelection:
    """Return the selection by `URL_INCLUDE` and `URL_EXCLUDE`; raises `ConfigError` for an invalid expression."""
    include, exclude = (
        [expression for expression in map(str, settings.getlist(name)) if expression.strip()]
        for name in ("URL_INCLUDE", "URL_EXCLUDE")
    )
    return UrlSelection(include, exclude)


def use_suffix_list(settings: SettingValues) -> None:
    """Use the list that PUBLIC_SUFFIX_LIST names in this process; raises `ConfigError`."""
    path = settings.get("PUBLIC_SUFFIX_LIST")
    try:
        text = read_text(path, MOST_LIST_BYTES, "name a Public Suffix List") if path else ""
        use_suffixes(suffix_list(text) if path else None)
    except (CrawlersError, ValueError) as error:  # `BadUrl` for a suffix that no host has
        raise ConfigError(f"PUBLIC_SUFFIX_LIST={quoted(path)}: {error}") from error
