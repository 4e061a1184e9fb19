"""Runs of a news crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.news_run import Crawl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.algorithms.url_rules.rule_learner import UrlRule
    from crawlers.storage.database import Database


@pytest.fixture
def runs(sqlite: Database) -> Iterator[Any]:
    """Makes a run; the one before it is over then."""
    made: list[Crawl] = []

    def run(*rules: UrlRule, **more: Any) -> Crawl:
        if made:
            made[-1].writer.close()
        made.append(Crawl(sqlite, *rules, **more))
        return made[-1]

    yield run
    made[-1].writer.close()
