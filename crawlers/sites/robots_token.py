"""Reads the name by which robots.txt addresses the crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.errors import ConfigError
from crawlers.pages.robots_groups import product_token

if TYPE_CHECKING:
    from crawlers.inputs.setting_values import SettingValues

ANYBODY = "*"


def robots_token(settings: SettingValues) -> str:
    """Return the product token that ROBOTSTXT_USER_AGENT or else USER_AGENT contains; `*` if USER_AGENT has none.

    Raises `ConfigError` if ROBOTSTXT_USER_AGENT has none.
    """
    named = settings.get("ROBOTSTXT_USER_AGENT")
    if named:
        token = product_token(named)
        if token is None:
            raise ConfigError(
                f"ROBOTSTXT_USER_AGENT={named!r} contains no name; write one of letters, digits, - and _, such as mybot"
            )
        return token
    return product_token(settings.get("USER_AGENT") or "") or ANYBODY
