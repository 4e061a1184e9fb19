"""Rewards of a harvest: which external links of a page count, and how often.

Templates repeat the same links on every page of a site; a reward that counted them every time would draw the
crawl to the site with the largest footer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlers.urls.keys import page_key, url_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from crawlers.items import ExternalLink


@dataclass(frozen=True, slots=True)
class RewardKind:
    """The reward of a page is the number of keys that *keys* derives from its external links.

    With *only_new*, a key counts only once per site.
    """

    keys: Callable[[Iterable[ExternalLink]], set[int]]
    only_new: bool


def _urls(links: Iterable[ExternalLink]) -> set[int]:
    return {link.key for link in links}


def _hosts(links: Iterable[ExternalLink]) -> set[int]:
    """Return the keys of the hosts with their ports; http and https of one host are the same."""
    return {page_key(host) for host in {link.site.partition("://")[2] for link in links}}


def signature_with(content_signature: int, keys: Collection[int]) -> int:
    """Return the *content_signature* of a page, changed if it has *keys* of new links: such a page is not a copy.

    >>> signature_with(7, ()), signature_with(7, {5, 3}) == signature_with(7, {3, 5}) != 7
    (7, True)
    """
    return url_key(f"{content_signature} {min(keys)}") if keys else content_signature


REWARDS = {
    "new_links": RewardKind(_urls, only_new=True),  # external URLs never seen before from this site
    "links": RewardKind(_urls, only_new=False),  # distinct external URLs of the page
    "new_hosts": RewardKind(_hosts, only_new=True),  # external hosts never seen before from this site
}
