"""How many examples a test of a whole crawl tries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable


def budget(examples: int) -> Callable[..., Any]:
    """Return a decorator with which a test tries that many *examples*, the same in each run, in any time."""
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=checks)
