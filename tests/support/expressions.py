"""Matches of single expressions of rules."""

from __future__ import annotations

from crawlers.algorithms.url_rules.url_expressions import UrlExpressions


def matches(text: str, target: str) -> bool:
    """Return whether *target*, a path and query, matches the expression *text*."""
    return bool(UrlExpressions([text]).matching(target))
