"""Names of files: of a site's results, and of those that each worker of a crawl has for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from crawlers.urls.keys import url_key

if TYPE_CHECKING:
    from collections.abc import Collection

PACKED = (".gz", ".bz2", ".xz", ".zst")
MAX_STEM = 200  # a file name has 255 bytes at most, and a suffix


def file_stem(site: str, sites: Collection[str] = (), folder: str = "") -> str:
    """Return the file name, without extension, for *site*, given as `urls.site_of` returns it.

    It is the host, followed by `_port` if the site has a port. An https site also gets the suffix `_https` if *sites*,
    all sites of the crawl, contains the same host and port with http. Underscores of the host are doubled, so that
    no two sites share a name; an IPv6 address has `-` in place of `:` and the prefix `ipv6_`. The *folder* (/a/b/) in
    which the crawl stayed follows behind `+`, which hosts can't contain, with `+` between its parts.

    >>> file_stem("http://a.example:81", folder="/docs/v1/")
    'a.example_81+docs+v1'
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
    if folder:
        stem = "+".join([stem, *(quote(part, safe="%") for part in folder[1:-1].split("/"))])
    if len(stem) > MAX_STEM:
        stem = f"{stem[: MAX_STEM - 20]}_{url_key(stem) & (1 << 64) - 1:016x}"
    return f"{stem}_https" if scheme == "https" and f"http://{authority}" in sites else stem


def of_worker(name: str, number: int) -> str:
    """Return the name, path or URI of a file with the number of a worker, before its ending.

    >>> of_worker("out.d/crawl.warc.gz", 17), of_worker("file:///tmp/pages.csv", 2), of_worker("pages", 2)
    ('out.d/crawl.17.warc.gz', 'file:///tmp/pages.2.csv', 'pages.2')
    """
    folder, slash, last = name.rpartition("/")
    stem, _, ending = last.rpartition(".")
    if f".{ending}" in PACKED and "." in stem:
        stem, _, kind = stem.rpartition(".")
        ending = f"{kind}.{ending}"
    return f"{folder}{slash}{stem}.{number}.{ending}" if stem else f"{folder}{slash}{last}.{number}"
