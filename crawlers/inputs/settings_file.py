"""Reads a file of settings: TOML, with one `NAME = value` a line.

PAGE_BUDGET = 2000
LINK_TAGS = "a,area"
"""

from __future__ import annotations

import difflib
import tomllib
from typing import TYPE_CHECKING, Any

from crawlers.errors import ConfigError
from crawlers.files.text_file import quoted, read_text, shortened_list
from crawlers.options.removed import REMOVED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.options.kinds import Kind

MAX_BYTES = 1_000_000


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
    if name in REMOVED:
        return f"{name} is no setting any more; {REMOVED[name]}"
    near = difflib.get_close_matches(name.upper(), kinds, n=1, cutoff=0.85)
    remedy = f"did you mean {near[0]}?" if near else "the documentation of settings lists all"
    return f"unknown setting {name}; {remedy}"
