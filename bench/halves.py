"""Halves of collections of pages, by domain: one to decide on, one that is set aside to report."""

from __future__ import annotations

from hashlib import blake2b


def is_set_aside(domain: str) -> bool:
    """Return whether the pages of *domain* are used to report, never to decide."""
    return int.from_bytes(blake2b(domain.encode(), digest_size=8).digest(), "big") % 2 == 1
