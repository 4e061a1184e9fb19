"""Reads a file of settings: TOML, with one `NAME = value` a line.

PAGE_BUDGET = 2000
LINK_TAGS = "a,area"
"""

from __future__ import annotations

import datetime
import difflib
import tomllib
from typing import TYPE_CHECKING, Any

from crawlers.errors import ConfigError
from crawlers.inputs.text_file import read_text, shortened_list, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BYTES = 1_000_000
DATES = (datetime.date, datetime.time)  # datetime is a date


def read_settings(path: str, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the file at *path*.

    *defaults* has a value of the right type for every known setting; None stands for any type but a table. Raises
    `ConfigError` for a file that can't be read or is not TOML, and with all unknown names and values of another type.
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
        if name not in defaults:
            problems.append(f"{path}: {_unknown(name, value, defaults)}")
        elif wanted := _wanted(value, defaults[name]):
            problems.append(f"{path}: {name} = {shown(str(value))} must be {wanted}")
    if problems:
        raise ConfigError("\n".join(shortened_list(problems)))
    return found


def _unknown(name: str, value: Any, defaults: Mapping[str, Any]) -> str:
    if isinstance(value, dict):
        return f"[{name}] is a table; write all settings at the top of the file, as NAME = value"
    near = difflib.get_close_matches(name.upper(), defaults, n=1, cutoff=0.85)
    remedy = f"did you mean {near[0]}?" if near else "the documentation of settings lists all"
    return f"unknown setting {name}; {remedy}"


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
