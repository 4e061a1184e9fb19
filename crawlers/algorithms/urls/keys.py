"""Short keys that stand for long things: a URL, the body of a page."""

from __future__ import annotations

import xxhash

_SIGN = 1 << 63
_SIXTY_BITS = (1 << 60) - 1


def page_key(normalized: str) -> int:
    """Return the key of a page's URL in its normal form, 60 bits.

    That is what Python keeps in two digits: a known URL takes 16 bytes less memory than with 64 bits. Keys
    are compared within one site only: among *n* URLs two share a key with odds of about n²/2^61, 4e-7 for a
    million pages. xxh3 is no cryptographic hash: someone who owns a site can make two of its own URLs
    collide, and would hide one of its own pages.

    >>> 0 <= page_key("http://example.com/") < 2**60
    True
    """
    return xxhash.xxh3_64_intdigest(normalized.encode("utf-8", "surrogatepass")) & _SIXTY_BITS


def url_key(normalized: str) -> int:
    """Return the signed 64-bit key of any text, such as an external URL; it fits an SQL BIGINT.

    >>> url_key("http://example.com/") == url_key("http://example.com/")
    True
    """
    return signed(xxhash.xxh3_64_intdigest(normalized.encode("utf-8", "surrogatepass")))


def content_hash(body: bytes) -> bytes:
    """Return the 16 bytes that are equal for equal bodies; two others collide with odds of 2^-128."""
    return xxhash.xxh3_128_digest(body)


def signed(number: int) -> int:
    """Return an unsigned 64-bit *number* as the signed one with the same bits."""
    return number - (number & _SIGN) * 2
