"""Reads which library downloads pages (HTTP_CLIENT)."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError
from crawlers.inputs.rule_settings import chosen

if TYPE_CHECKING:
    from crawlers.inputs.setting_values import SettingValues

CLIENTS = {"curl": "curl", "twisted": "twisted"}
REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"  # Scrapy's default, which runs the loop of asyncio


def http_client(settings: SettingValues) -> str:
    """Return HTTP_CLIENT, one of `CLIENTS`; raises `ConfigError` if it is unknown or can't be used."""
    name = chosen(CLIENTS, "HTTP_CLIENT", settings.get("HTTP_CLIENT"))
    if name == "curl" and find_spec("pycurl") is None:
        raise ConfigError(
            "HTTP_CLIENT=curl needs pycurl, which is not installed; run pip install pycurl, or set HTTP_CLIENT=twisted"
        )
    if name == "curl" and settings.get("TWISTED_REACTOR") != REACTOR:
        raise ConfigError(f"HTTP_CLIENT=curl needs TWISTED_REACTOR={REACTOR}; leave it out, or set HTTP_CLIENT=twisted")
    return name
