"""Names of the files about a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.urls.keys import url_key

if TYPE_CHECKING:
    from collections.abc import Collection

STEM_MAX = 200  # a file name has 255 bytes at most, and a suffix


def file_stem(site: str, sites: Collection[str] = ()) -> str:
    """Return the name, without extension, of the files about *site*, as `urls.site_of` writes it.

    It is the host, and `_port` if the site has one. A site of https gets `_https` behind it if *sites*, all
    sites of the crawl, has the same host and port with http. An underscore of the host is doubled, so that
    no two sites share a name; an IPv6 address has `-` for `:` and `ipv6_` before it.

    >>> file_stem("http://apache2.test:8600"), file_stem("https://a.example", ["http://a.example"])
    ('apache2.test_8600', 'a.example_https')
    """
    scheme, _, authority = site.partition("://")
    host, _, port = authority.partition(":")
    if authority.startswith("["):
        address, _, port = authority[1:].partition("]")
        host, port = "ipv6_" + address.replace(":", "-"), port[1:]
    else:
        host = host.replace("_", "__")
    stem = f"{host}_{port}" if port else host
    if len(stem) > STEM_MAX:
        stem = f"{stem[: STEM_MAX - 20]}_{url_key(stem) & (1 << 64) - 1:016x}"
    return f"{stem}_https" if scheme == "https" and f"http://{authority}" in sites else stem
