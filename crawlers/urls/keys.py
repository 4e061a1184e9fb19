"""Short keys of URLs and page bodies."""

from __future__ import annotations

import xxhash

_SIGN = 1 << 63
_SIXTY_BITS = (1 << 60) - 1


def page_key(normalized: str) -> int:
    """Return the 60-bit key of a page's normalised URL.

    Python stores 60 bits in two digits, so a known URL takes 16 bytes less memory than with 64 bits. Keys are compared
    within one site only: any two of n URLs share a key with a probability of about n²/2^61, 4e-7 for a million pages.
    xxh3 is not a cryptographic hash: the owner of a site can make two of its URLs collide, but that only hides one of
    its own pages.

    >>> 0 <= page_key("http://example.com/") < 2**60
    True
    """
    return xxhash.xxh3_64_intdigest(normalized.encode("utf-8", "surrogatepass")) & _SIXTY_BITS


def url_key(normalized: str) -> int:
    """Return the signed 64-bit key of any text, such as an external URL; it fits in an SQL BIGINT.

    >>> url_key("http://example.com/") == url_key("http://example.com/")
    True
    """
    number: int = xxhash.xxh3_64_intdigest(normalized.encode("utf-8", "surrogatepass"))
    return number - (number & _SIGN) * 2


def content_hash(body: bytes) -> bytes:
    """Return a 128-bit hash of *body*; two different bodies collide with a probability of 2^-128."""
    return xxhash.xxh3_128_digest(body)


def signed(number: int) -> int:
    """Return the signed number with the same bits as the unsigned 64-bit *number*."""
    return number - (number & _SIGN) * 2
