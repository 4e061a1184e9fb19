"""What a harvest is after: which of a page's external links count, and how often.

A template puts the same links on every page of a site; a reward that counts them each time would draw
the crawl to the largest footer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlers.algorithms.urls.keys import page_key, url_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from crawlers.items import ExternalLink


@dataclass(frozen=True, slots=True)
class Reward:
    """A page earns one for each key that *keys* finds among its links.

    With *only_new* no page of a site earns anything for a key that an earlier one was paid for.
    """

    keys: Callable[[Iterable[ExternalLink]], set[int]]
    only_new: bool


def _urls(links: Iterable[ExternalLink]) -> set[int]:
    return {link.key for link in links}


def _hosts(links: Iterable[ExternalLink]) -> set[int]:
    """Hosts with their ports; http and https of one host are one."""
    return {page_key(host) for host in {link.site.partition("://")[2] for link in links}}


def signature_with(content_signature: int, keys: Collection[int]) -> int:
    """The *content_signature* of a page, changed if it was paid for *keys*: a page with new links is no copy.

    >>> signature_with(7, ()), signature_with(7, {5, 3}) == signature_with(7, {3, 5}) != 7
    (7, True)
    """
    return url_key(f"{content_signature} {min(keys)}") if keys else content_signature


REWARDS = {
    "new_links": Reward(_urls, only_new=True),  # external URLs never seen before from this site
    "links": Reward(_urls, only_new=False),  # distinct external URLs of the page
    "new_hosts": Reward(_hosts, only_new=True),  # external hosts never seen before from this site
}
