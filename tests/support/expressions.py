"""Matches of single expressions of rules."""

from crawlers.urls.url_expressions import UrlExpressions


def matches(text, target):
    """Return whether *target*, a path and query, matches the expression *text*."""
    return bool(UrlExpressions([text]).matching(target))
