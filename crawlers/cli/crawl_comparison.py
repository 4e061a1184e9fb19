"""`scrapy graph --diff`: writes what changed between two crawls; and the choice of sites for all graphs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError
from crawlers.graphs.comparison.comparison_files import compared_sites, write_comparisons
from crawlers.graphs.comparison.crawl_changes import CHANGES
from crawlers.inputs.seed_names import matching_seeds
from crawlers.items import Seed
from crawlers.storage.queries import crawl_named, sites_of
from crawlers.storage.seeds import list_seeds

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence
    from pathlib import Path

    from crawlers.graphs.comparison.crawl_changes import Change
    from crawlers.storage.database import Database
    from crawlers.storage.queries import CrawledSite, NamedCrawl

NO_NUMBER = -1  # of a site that is not a seed any more


def check_has_links(crawl: NamedCrawl) -> None:
    """Raise `ConfigError` if the links of *crawl* are not in the store."""
    if crawl.is_foreign:
        raise ConfigError(
            f"the crawl {crawl.name} (number {crawl.id}) is of a plain Scrapy spider, whose links are not stored, "
            "so it has no graph; name another with --crawl"
        )


def compare_crawls(
    database: Database, names: Sequence[str], wanted: Sequence[str], folder: Path, formats: Sequence[str]
) -> None:
    """Write what changed from the first of two crawls to the second on all sites, or on those that *wanted* names."""
    before, after = (crawl_named(database, name) for name in names)
    for crawl in (before, after):
        check_has_links(crawl)
    if before.id == after.id:
        raise ConfigError(f"both are the {after}; give the numbers of two crawls, which crawls print at their end")
    print(f"Comparing the {before} with the {after}", file=sys.stderr)
    firsts, seconds = (sites_of(database, crawl.id) for crawl in (before, after))
    by_name = {site.site: site for site in (*firsts, *seconds)}
    meant = {site.site for site in chosen_sites(database, list(by_name.values()), wanted, after.name)}
    sites = [site for site in compared_sites(firsts, seconds) if site.site in meant]
    about = f"crawls {before.name} (number {before.id}) and {after.name} (number {after.id})"
    for found in write_comparisons(database, sites, list(by_name), folder, formats, about):
        print(f"{found.site}: {', '.join(str(path) for path in found.paths)}")
        if "csv" in formats:
            print(f"  pages: {_numbers(found.pages)}")
            print(f"  links: {_numbers(found.links)}")


def _numbers(counts: Counter[Change]) -> str:
    return ", ".join(f"{counts[change]:,} {change}" for change in CHANGES)


def chosen_sites(
    database: Database, sites: Sequence[CrawledSite], wanted: Sequence[str], crawl: str
) -> Sequence[CrawledSite]:
    """Return those of *sites* that *wanted* names, as `scrapy sites` does; all if it is empty. Raises `ConfigError`."""
    if not wanted:
        return sites
    by_name = {site.site: site for site in sites}
    seeds = {seed.site: seed for seed in list_seeds(database)}
    known = [seeds.get(name) or Seed(NO_NUMBER, name, f"{name}/") for name in by_name]  # a seed may have been removed
    found = {name: [seed.site for seed in matching_seeds(known, name)] for name in wanted}
    unknown = [name for name, matches in found.items() if not matches]
    if unknown:
        raise ConfigError(
            f"{', '.join(unknown)}: not a site of the crawl {crawl}; its sites are {', '.join(sorted(by_name)[:20])}"
        )
    for name, matches in found.items():
        if len(matches) > 1:
            raise ConfigError(f"{name} matches several sites of the crawl {crawl}: {', '.join(matches)}; name one")
    return [by_name[name] for name in dict.fromkeys(matches[0] for matches in found.values())]
