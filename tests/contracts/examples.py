"""How many examples a test of a whole crawl tries."""

from hypothesis import HealthCheck, settings


def budget(examples):
    """Return a decorator with which a test tries that many *examples*, the same in each run, in any time."""
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=checks)
