"""Finds the seed that a number, a name, a host, a domain or a URL refers to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.errors import ConfigError
from crawlers.files.text_file import quoted
from crawlers.sites.seed_list import seed_address
from crawlers.urls.domains import rule_domain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlers.items import Seed


def find_seed(seeds: Sequence[Seed], text: str) -> Seed:
    """Return the seed that *text* refers to: its number, short name, host, domain, or a URL of its site.

    Hosts discovered by crawls match a host or domain only if no named seed does. Raises `ConfigError` if there is
    no match, or more than one.
    """
    found = matching_seeds(seeds, text)
    if len(found) == 1:
        return found[0]
    if found:
        several = ", ".join(f"{seed.number} ({seed.site})" for seed in found)
        raise ConfigError(f"{quoted(text)} matches several seeds: {several}; give the number of one")
    raise ConfigError(f"{quoted(text)} matches no seed; `scrapy sites list --all` shows all seeds with their numbers")


def matching_seeds(seeds: Sequence[Seed], text: str) -> list[Seed]:
    """Return all seeds that *text* may refer to."""
    wanted = text.strip()
    return (
        [seed for seed in seeds if str(seed.number) == wanted]
        or [seed for seed in seeds if seed.short_name and seed.short_name.casefold() == wanted.casefold()]
        or _of_address(seeds, wanted)
    )


def _of_address(seeds: Sequence[Seed], text: str) -> list[Seed]:
    try:
        site, _ = seed_address(text)
    except ConfigError:
        return []
    if "://" in text:
        return [seed for seed in seeds if seed.site == site]
    host = site.partition("://")[2]
    found = [seed for seed in seeds if host in (seed.site.partition("://")[2], rule_domain(seed.site))]
    return [seed for seed in found if seed.enabled or not seed.is_found] or found
