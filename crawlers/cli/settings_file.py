"""Reads the settings in a file of TOML (SETTINGS_FILE)."""

from __future__ import annotations

import difflib
import tomllib
from collections import ChainMap
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES

from crawlers.errors import ConfigError
from crawlers.files.text_file import quoted, read_text, shortened_list
from crawlers.mission import missions
from crawlers.options.kinds import by_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

    from crawlers.options.kinds import Kind

MAX_BYTES = 1_000_000


def use_settings_file(settings: BaseSettings, path: str, kinds: Mapping[str, Kind]) -> None:
    """Add the settings in the file at *path*; those of the command line stay. Raises as `read_settings` does."""
    found = read_settings(path, kinds)
    if "SETTINGS_FILE" in found:
        raise ConfigError(f"{path}: SETTINGS_FILE names another file; one file can't include another, so leave it out")
    for name, value in found.items():
        if settings.getpriority(name) != SETTINGS_PRIORITIES["cmdline"]:
            settings.set(name, value, "cmdline")


def read_settings(path: str, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """Return the settings of the file at *path*, of which the *kinds* are known.

    Raises `ConfigError` for a file that can't be read or is not TOML, and with all unknown names and wrong values.
    """
    text = read_text(path, MAX_BYTES, "it has at most one line for each setting").removeprefix("\ufeff")
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}; write NAME = value, and texts in quotes") from error
    except RecursionError:
        raise ConfigError(f"{path} is not valid TOML: lists or tables are nested too deeply; flatten them") from None
    problems = []
    for name, value in found.items():
        if name not in kinds:
            problems.append(f"{path}: {_unknown(name, value, kinds)}")
        elif problem := kinds[name].problem(value):
            problems.append(f"{path}: {name}={quoted(str(value))}{problem}")
    if problems:
        raise ConfigError("\n".join(shortened_list(problems)))
    return found


def _unknown(name: str, value: Any, kinds: Mapping[str, Kind]) -> str:
    if isinstance(value, dict):
        return f"[{name}] is a table; write all settings at the top of the file, as NAME = value"
    if (instead := removed_settings().get(name)) is not None:
        return f"{name} is no setting any more; {instead}"
    near = difflib.get_close_matches(name.upper(), kinds, n=1, cutoff=0.85)
    remedy = f"did you mean {near[0]}?" if near else "the documentation of settings lists all"
    return f"unknown setting {name}; {remedy}"


def removed_settings() -> Mapping[str, str]:
    """Return what to do instead of using settings of earlier versions, by name."""
    from crawlers.options.removed import REMOVED

    of_missions = (by_name(mission.removed) for mission in missions().values())
    return ChainMap(REMOVED, *of_missions)
