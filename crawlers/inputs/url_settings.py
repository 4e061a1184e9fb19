"""Reads the settings of URLs: the steps of their normal form, and the selection of those that are fetched."""

from __future__ import annotations

from ast import literal_eval
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from crawlers.algorithms.url_rules.url_selection import UrlSelection
from crawlers.algorithms.urls.domains import suffix_list, use_suffixes
from crawlers.algorithms.urls.normalization import Normalization
from crawlers.errors import ConfigError, CrawlersError
from crawlers.inputs.text_file import read_text, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from crawlers.inputs.setting_values import SettingValues

MOST_LIST_BYTES = 10_000_000  # thirty times the Public Suffix List


def normalization(settings: SettingValues) -> Normalization:
    """Return the steps that *settings* enable: `URL_ADD_TRAILING_SLASH` is add_trailing_slash, and so on."""
    steps = {
        field.name: settings.getbool(f"URL_{field.name.upper()}")
        for field in fields(Normalization)
        if field.init and field.type == "bool"
    }
    return Normalization(
        **steps,
        ip_names=settings.getdict("URL_IP_NAMES"),
        ignored_parameters=tuple(settings.getlist("URL_IGNORED_PARAMETERS")),
    )


def recorded(options: Normalization) -> dict[str, str]:
    """Return *options* as settings, in one notation; the keys of a crawl depend on them."""
    values = {field.name: getattr(options, field.name) for field in fields(options) if field.init}
    values["ignored_parameters"] = list(options.ignored_parameters)
    return {f"URL_{name.upper()}": str(value) for name, value in values.items()}


def normalization_recorded(values: Mapping[str, str | None], default: Normalization) -> Normalization:
    """Return the steps that a crawl `recorded` among its settings *values*; those that it did not are as in *default*.

    >>> normalization_recorded({"URL_IGNORED_PARAMETERS": "['ref']"}, Normalization()).ignored_parameters
    ('ref',)
    """
    steps: dict[str, Any] = {}
    for name in recorded(default):
        if (value := values.get(name)) is not None:
            step = name.removeprefix("URL_").lower()
            steps[step] = literal_eval(value) if value[:1] in ("[", "{") else value.lower() in ("true", "1")
    if "ignored_parameters" in steps:
        steps["ignored_parameters"] = tuple(steps["ignored_parameters"])
    return replace(default, **steps)


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
        raise ConfigError(f"PUBLIC_SUFFIX_LIST={shown(path)}: {error}") from error
