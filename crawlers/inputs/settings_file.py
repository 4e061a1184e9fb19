"""Reads a file of settings: TOML, with one `NAME = value` a line.

PAGE_BUDGET = 2000
LINK_TAGS = "a,area"
"""

from __future__ import annotations

import datetime
import tomllib
from typing import TYPE_CHECKING, Any

from crawlers.errors import ConfigError
from crawlers.inputs.text_file import read_text, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BYTES = 1_000_000
DATES = (datetime.date, datetime.time)  # datetime is a date


def read_settings(path: str, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the file at *path*.

    *defaults* has a value of the right type for every known setting; None stands for any type but a table. Raises
    `ConfigError` for a file that can't be read or is not TOML, for unknown names, and for values of another type.
    """
    text = read_text(path, MAX_BYTES, "it has at most one line for each setting").removeprefix("\ufeff")
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}; write NAME = value, and texts in quotes") from error
    except RecursionError:
        raise ConfigError(f"{path} is not valid TOML: lists or tables are nested too deeply; flatten them") from None
    for name, value in found.items():
        if name not in defaults:
            _refuse_name(path, name, value, defaults)
        if wanted := _wanted(value, defaults[name]):
            raise ConfigError(f"{path}: {name} = {shown(str(value))} must be {wanted}")
    return found


def _refuse_name(path: str, name: str, value: Any, defaults: Mapping[str, Any]) -> None:
    if isinstance(value, dict):
        raise ConfigError(f"{path}: [{name}] is a table; write all settings at the top of the file, as NAME = value")
    remedy = f"did you mean {name.upper()}?" if name.upper() in defaults else "docs/reference/settings.md lists all"
    raise ConfigError(f"{path}: unknown setting {name}; {remedy}")


def _wanted(value: Any, default: Any) -> str | None:
    """Return what a setting must be instead of *value*, None if *value* is right."""
    if isinstance(default, dict):
        return None if isinstance(value, dict) else "a table"
    if isinstance(value, (dict, *DATES)):
        return "a plain value: a text, a number, true, false, or a list"
    if isinstance(default, bool):
        return None if value is True or value is False or value in (0, 1) else "true or false"
    if isinstance(default, int):
        return None if isinstance(value, int) and not isinstance(value, bool) else "a whole number, without quotes"
    if isinstance(default, float):
        return None if isinstance(value, (int, float)) and not isinstance(value, bool) else "a number, without quotes"
    if isinstance(default, str):
        return None if isinstance(value, str) else "a text in quotes"
    if isinstance(default, (list, tuple)):
        is_list = isinstance(value, list) and all(isinstance(one, (str, int)) for one in value)
        return None if is_list or isinstance(value, str) else 'a list, such as ["a", "b"]'
    return None
