"""Options that several parts of `scrapy lab` understand alike."""

from __future__ import annotations

from crawlers.algorithms.site_rules import RULES
from crawlers.errors import ConfigError


def rule_names(text: str | None) -> list[str]:
    """The rules that *text* names with commas between them, or all; raises `ConfigError` for an unknown one."""
    names = list(RULES) if text is None else [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in RULES]
    if unknown:
        raise ConfigError(f"--rules: {unknown[0]!r} is unknown; known are: {', '.join(sorted(RULES))}")
    return names


def whole_number(name: str, value: int, least: int) -> int:
    """*value*, if it is *least* or more; else raises `ConfigError`."""
    if value < least:
        raise ConfigError(f"{name} {value}: give a number from {least} on")
    return value
