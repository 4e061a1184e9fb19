"""Reads the news sources that people list in sources.yaml.

```yaml
sources:
  - example.org                                   # a site is enough: its feeds and rules are discovered
  - site: https://www.example.com
    name: The Example
    feeds: [/rss.xml, https://feeds.example.net/politics]   # addresses, or paths of the site
    sitemaps: [/news-sitemap.xml]
    rules:                                        # which URLs are articles: regexes for the part after the host
      - '/\\d{4}/\\d{2}/\\d{2}/[^/]+/?'
      - {regex: '/video/.*', weight: 0}           # weights from 0 to 1; 0: never an article
    content:                                      # where each part is on the page: CSS, or XPath from /
      text: div.article-body
      title: h1
      published: //time/@datetime
    language: en
    region: GB
    parallel: 1
    max_level: 8
    delay_ms: 1000
    hosts: [sport.example.net, cdn.example.net]   # further hosts of the source; subdomains are included
```
"""

from __future__ import annotations

from crawlers.errors import ConfigError
from crawlers.files.text_file import read_text, shortened_list
from crawlers.files.yaml_reader import Problem, read_entries
from crawlers.missions.news.feeds.source_fields import source_of
from crawlers.missions.news.feeds.sources import Source

__all__ = ["Source", "parse_sources", "read_sources"]

MAX_BYTES = 50_000_000  # of a file: 100,000 sources, each with feeds and rules


def read_sources(path: str) -> tuple[list[Source], list[str]]:
    """Return the sources in the file *path*, and one problem for each skipped entry.

    A problem is a sentence with file and line.
    Raises `ConfigError` if no source is left, or if *path* is not such a file.
    """
    return parse_sources(read_text(path, MAX_BYTES, "split it into several files"), path)


def parse_sources(text: str, origin: str) -> tuple[list[Source], list[str]]:
    """Parse *text* like `read_sources`; messages name the file as *origin*.

    >>> sources, problems = parse_sources("sources: [www.example.org, ftp://example.org]", "sources.yaml")
    >>> sources[0].domain, len(problems)
    ('example.org', 1)
    """
    try:
        entries = read_entries(text, "sources", source_of)
    except Problem as problem:
        raise ConfigError(problem.at(origin)) from None
    sources: list[Source] = []
    problems: list[str] = []
    places: dict[str, int] = {}
    for line, entry in entries:
        if isinstance(entry, Problem):
            problems.append(f"{origin}:{line}: {entry}")
            continue
        addresses = (entry.limits.site, *entry.feeds, *entry.sitemaps)
        if taken := next((address for address in addresses if address in places), None):
            remedy = f"already belongs to the source in line {places[taken]}; keep one of the two"
            problems.append(f"{origin}:{line}: {taken} {remedy}")
            continue
        sources.append(entry)
        places.update(dict.fromkeys(addresses, line))
    if not sources and problems:
        raise ConfigError("\n".join([*shortened_list(problems), "No valid source is left; fix the file."]))
    if not sources:
        raise ConfigError(f"{origin}: no sources found; write one per line below `sources:`, such as `- example.org`")
    return sources, problems
