"""Reads the settings of how responses are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.errors import ConfigError
from crawlers.inputs.setting_readers import normalization
from crawlers.options.of_outputs import BROKEN_LINKS
from crawlers.pages.response import ResponseReader
from crawlers.urls.link_resolver import LinkResolver

if TYPE_CHECKING:
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.urls.addresses import SiteAddresses
    from crawlers.urls.scope import Scope

KNOWN_TAGS = frozenset({"a", "area", "frame", "iframe", "link", "meta"})


def response_reader(settings: SettingValues, addresses: SiteAddresses, scope: Scope | None) -> ResponseReader:
    """Return the reader of the responses of a crawl of sites at *addresses*, within *scope*; raises `ConfigError`."""
    return ResponseReader(
        LinkResolver(normalization(settings), addresses=addresses, across_sites=scope is not None),
        link_tags(settings),
        frozenset(settings.getlist("HTML_TYPES")),
        anchors=BROKEN_LINKS in settings.getlist("RESULT_TABLES"),
        scope=scope,
    )


def link_tags(settings: SettingValues) -> frozenset[str]:
    """Return the tags of `LINK_TAGS`; raises `ConfigError` for an unknown one."""
    tags = frozenset(tag.strip().lower() for tag in settings.getlist("LINK_TAGS") if tag.strip())
    if not tags or tags - KNOWN_TAGS:
        unknown = ", ".join(sorted(tags - KNOWN_TAGS)) or "nothing"
        raise ConfigError(f"LINK_TAGS names {unknown}; choose one of: {', '.join(sorted(KNOWN_TAGS))}")
    return tags
