"""Draws what the iterations of news crawls brought, from the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlers.errors import ConfigError
from crawlers.reports.iteration_chart import one_crawl, several_crawls
from crawlers.storage.files.atomic import replacing
from crawlers.storage.news.iterations import days_of, iterations_of
from crawlers.storage.queries import crawl_named

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawlers.algorithms.news.iteration_counts import Day, Iteration
    from crawlers.storage.database import Database
    from crawlers.storage.queries import NamedCrawl


class NewsCurves(NamedTuple):
    """The iterations of a crawl, and its days."""

    crawl: NamedCrawl
    label: str  # its name; with its number where another one of the same name is shown
    iterations: list[Iteration]
    days: list[Day]


def curves_of(database: Database, names: Sequence[str | None]) -> list[NewsCurves]:
    """Those of the crawls called *names*; None: of the latest. Raises `ConfigError` for one without iterations."""
    found = []
    crawls = list(dict.fromkeys(crawl_named(database, name) for name in names))
    for crawl in crawls:
        iterations = iterations_of(database, crawl.id)
        if not iterations:
            raise ConfigError(
                f"CRAWL={crawl.name} has no iterations: it is no crawl of scrapy crawl news, or has just begun; name "
                "another"
            )
        is_alone = sum(other.name == crawl.name for other in crawls) == 1
        label = crawl.name if is_alone else f"{crawl.name} ({crawl.id})"
        found.append(NewsCurves(crawl, label, iterations, days_of(database, crawl.id)))
    return found


def draw_curves(path: Path, curves: Sequence[NewsCurves]) -> None:
    """Write a picture of *curves* to *path*, an SVG file. Raises as `replacing`."""
    if len(curves) == 1:
        crawl, label, iterations, days = curves[0]
        text = one_crawl(f"{crawl.mission} “{label}”", iterations, days)
    else:
        text = several_crawls(", ".join(one.label for one in curves), {one.label: one.iterations for one in curves})
    with replacing(path) as stream:
        stream.write(text.encode())
