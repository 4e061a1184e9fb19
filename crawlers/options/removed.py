"""Settings and parts of `scrapy lab` of earlier versions, and what they are now; missions declare their settings."""

from __future__ import annotations

from crawlers.options.kinds import by_name

_NOW = {  # by what is said
    "URL_NORMALIZATION has its step: default,-merge_slashes leaves one out, default,lower_case adds one": (
        "URL_LOWER_CASE_HOST URL_DROP_DEFAULT_PORT URL_UPPER_CASE_ESCAPES URL_DECODE_UNRESERVED URL_ADD_TRAILING_SLASH "
        "URL_REMOVE_DOT_SEGMENTS URL_DROP_FRAGMENT URL_MERGE_SLASHES URL_SORT_PARAMETERS URL_DROP_EMPTY_QUERY "
        "URL_DROP_EMPTY_PARAMETERS URL_DROP_VALUELESS_PARAMETERS URL_LOWER_CASE URL_DROP_FINAL_SLASH"
    ),
    "ROBOTS_REST_SECONDS is the first of six rests; 0: none": (
        "ROBOTS_MAX_REST_SECONDS ROBOTS_REST_TIMES ROBOTS_LAST_WAIT_SECONDS"
    ),
    "leave it out: a page has 5 seconds of its own clock, 100 requests and 512 MB of objects": (
        "RENDER_VIRTUAL_SECONDS RENDER_REQUESTS RENDER_MEMORY_MB"
    ),
    "leave it out: 100 sitemaps and 1,000,000 URLs of a site are read": "SITEMAPS_MAX_FILES SITEMAPS_MAX_URLS",
    "FRONTIER_CACHE_URLS alone decides how much memory a crawl takes": "FRONTIER_HEAD_URLS REWARD_CACHE_KEYS",
    "write METRICS_PORT=address:port": "METRICS_ADDRESS",
    "leave it out: the live table is updated twice a second": "PROGRESS_INTERVAL_SECONDS",
    "write RULE_WAIT_SECONDS=0 for a crawl that never waits for a better site": "RULE_INDEX_SHARE",
    "leave it out: equal commands make equal choices": "RULE_SEED",
    "leave it out: a crawl has at most 100,000 sites; SCOPE says which": "SCOPE_MAX_SITES",
    "STORE_BATCH_SECONDS limits a transaction, and 200 pages": "STORE_BATCH_PAGES",
    "leave it out: a worker waits for a store for twenty times WORKER_DEADLINE_SECONDS": "WORKER_REJOIN_SECONDS",
}
REMOVED = by_name(_NOW)
REMOVED_PARTS = {
    "report": "scrapy report sites has the pages and the yield of each site, scrapy report link-features what links "
    "promise, and scrapy web pictures"
}
