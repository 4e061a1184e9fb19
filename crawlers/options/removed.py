"""Settings of earlier versions, and what they are now."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def by_name(said: Mapping[str, str]) -> dict[str, str]:
    """Return what is *said* about settings, each sentence with the names that it is about, by name.

    >>> by_name({"see the file": "A B"})
    {'A': 'see the file', 'B': 'see the file'}
    """
    return {name: sentence for sentence, names in said.items() for name in names.split()}


_NOW = {  # by what is said
    "URL_NORMALIZATION names steps": (
        "URL_LOWER_CASE_HOST URL_DROP_DEFAULT_PORT URL_UPPER_CASE_ESCAPES URL_DECODE_UNRESERVED URL_ADD_TRAILING_SLASH "
        "URL_REMOVE_DOT_SEGMENTS URL_DROP_FRAGMENT URL_MERGE_SLASHES URL_SORT_PARAMETERS URL_DROP_EMPTY_QUERY "
        "URL_DROP_EMPTY_PARAMETERS URL_DROP_VALUELESS_PARAMETERS URL_LOWER_CASE URL_DROP_FINAL_SLASH"
    ),
    "NEWS_ALARM_HOURS and NEWS_ALARM_SILENT_DAYS say when alarms are raised": (
        "NEWS_ALARM_MINUTES NEWS_ALARM_DEAD_FEED_HOURS NEWS_ALARM_UNREACHABLE_HOURS NEWS_ALARM_DISCOVERY_DAYS"
    ),
    "NEWS_RULES is learnt, manual or none": "NEWS_RULES_ENABLED NEWS_LEARN_RULES NEWS_PRIOR_ENABLED",
    "ROBOTS_REST_SECONDS is the first of six rests; 0: none": (
        "ROBOTS_MAX_REST_SECONDS ROBOTS_REST_TIMES ROBOTS_LAST_WAIT_SECONDS"
    ),
    "a page has 5 seconds of its own clock, 100 requests and 512 MB of objects": (
        "RENDER_VIRTUAL_SECONDS RENDER_REQUESTS RENDER_MEMORY_MB"
    ),
    "100 sitemaps and 1,000,000 URLs of a site are read": "SITEMAPS_MAX_FILES SITEMAPS_MAX_URLS",
    "FRONTIER_CACHE_URLS decides how much memory a crawl takes": "FRONTIER_HEAD_URLS REWARD_CACHE_KEYS",
    "the file of the topic says it": "TOPIC_LANGUAGE TOPIC_STRATEGY",
    "a topic crawl writes both files": "TOPIC_RESULTS",
    "3 % of a site's downloads go to archives": "ARCHIVE_SHARE",
    "keys of documents are in the store": "DOCUMENT_KEYS_URL",
    "the extraction of a page may take 30 seconds": "EXTRACTION_TIMEOUT_SECONDS",
    "an article should be stored 12 hours after its publication": "FEED_DEADLINE_SECONDS",
    "news reads feeds of any type": "FEED_TYPES",
    "METRICS_PORT=address:port names both": "METRICS_ADDRESS",
    "20 pages of a site are polled besides its feeds": "NEWS_HUBS",
    "NEWS_ITERATION_PAGES alone ends an iteration": "NEWS_ITERATION_MINUTES",
    "the live table is updated twice a second": "PROGRESS_INTERVAL_SECONDS",
    "RULE_WAIT_SECONDS=0 never waits for a better site": "RULE_INDEX_SHARE",
    "equal commands make equal choices": "RULE_SEED",
    "a crawl has at most 100,000 sites; SCOPE says which": "SCOPE_MAX_SITES",
    "a transaction has at most 200 pages, and STORE_BATCH_SECONDS": "STORE_BATCH_PAGES",
    "a worker waits for a store for twenty times WORKER_DEADLINE_SECONDS": "WORKER_REJOIN_SECONDS",
}
REMOVED = by_name(_NOW)
