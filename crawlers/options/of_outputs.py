"""The settings of memory, stores, outputs, logs and the panel, and those of Scrapy that people choose."""

from __future__ import annotations

from crawlers.options.kinds import (
    CSV_LOG,
    WARC,
    Choice,
    File,
    Names,
    Number,
    Reach,
    Setting,
    Switch,
    Text,
    Whole,
    group,
)

MACHINE, RESULTS = Reach.MACHINE, Reach.RESULTS
BROKEN_LINKS = "broken-links"  # the table for which texts of links are stored

FRONTIER = group(
    "The frontier",
    Setting("FRONTIER_CACHE_URLS", 12_000_000, Whole(least=1)).says(
        "known URLs kept in memory, some 25 bytes each; others are looked up in the store"
    ),
)
STORE = group(
    "The store",
    Setting("WORKER_DEADLINE_SECONDS", 30.0, Number(above=True)).says(
        "seconds without a sign of life, after which others take over the sites of a worker"
    ),
    Setting("STORE_BATCH_SECONDS", 1.0, Number()).says("seconds that a page waits for its transaction at most"),
    Setting("WARC_FILE", "", File(kind=WARC), RESULTS).says(
        "a .warc.gz file to which every response is appended; empty: none"
    ),
)
GRAPHS = group(
    "Graphs",
    Setting("GRAPH_FORMATS", ["gexf"], Names("Formats", of="graphs.export:ALL_FORMATS")).says(
        "written when the crawl stops: gexf, graphml, csv, parquet; empty: none"
    ),
    Setting("GRAPH_LAYOUT", ["level", "in_degree"], Names("Words")).says(
        "of GEXF: level or community (colours), in_degree or pagerank (sizes)"
    ),
    Setting("GRAPH_MEASURES", [], Names("Names", of="graphs.export:ALL_MEASURES")).says(
        "computed for graphs: pagerank, hub, authority, component, component_size"
    ),
)
TABLES = group(
    "Tables of URLs and links",
    Setting(
        "RESULT_TABLES",
        ["pages", BROKEN_LINKS, "redirects", "external-links"],
        Names("Names", of="reports.site_results:TABLES"),
    ).says("Written when the crawl stops: pages, broken-links, redirects, external-links; empty: none"),
)
LOGS = group(
    "Logs and progress",
    Setting("COMMON_LOG_FILE", "logs/common_log.csv", File(kind=CSV_LOG)).says(
        "one line per response; empty: no such log"
    ),
    Setting("ERROR_LOG_FILE", "logs/error_log.csv", File(kind=CSV_LOG)).says("one line per error; empty: no such log"),
    Setting("PROGRESS_ENABLED", None, Switch(or_none=True), MACHINE).says(
        "a live display; None: when standard error is a terminal"
    ),
    Setting("LOG_JSON", False, Switch(), MACHINE).says("log lines are JSON objects, for programs that collect them"),
    Setting("WEB_PASSWORD", "", Text(), MACHINE).says(
        "of the panel, `scrapy web`; needed when other machines can reach it"
    ),
    Setting("WEB_HOSTS", "", Text("Names"), MACHINE).says("further names of the panel, host or host:port, with commas"),
    Setting("SCRAPYD_URL", "", Text("An address"), MACHINE).says(
        "where the panel starts crawls, http://host:6800; empty: as processes of this machine"
    ),
    Setting("METRICS_PORT", 0, Text("A port, or address:port", like=r"(.+:)?\d{1,5}", such="9410"), MACHINE).says(
        "metrics for Prometheus, on the first free port from this one on; 0: none"
    ),
    Setting("FAIL_ON_UNAVAILABLE", False, Switch()).says(
        "exit with status 3 if a listed site is not available; off: only if no page was read"
    ),
)
SCRAPY = group(
    "Scrapy",
    Setting("ROBOTSTXT_OBEY", True, Switch(), RESULTS).says("request only what robots.txt allows"),
    Setting("USER_AGENT", "crawlers/0.1 (+https://example.org/crawlers)", Text(), RESULTS).says(
        "How requests name the crawler: say who you are, and where webmasters reach you"
    ),
    Setting("ROBOTSTXT_USER_AGENT", None, Text("A name", or_none=True), RESULTS).says(
        "the name by which robots.txt addresses the crawl; None: from USER_AGENT"
    ),
    Setting("CONCURRENT_REQUESTS", 64, Whole(least=1)).says("of all sites together"),
    Setting("DOWNLOAD_TIMEOUT", 60.0, Number(above=True)).says("seconds"),
    Setting("DOWNLOAD_MAXSIZE", 16 * 1024 * 1024, Whole()).says("bytes; a larger page is refused"),
    Setting("RETRY_TIMES", 2, Whole()).says("retries after an error"),
    Setting("LOG_LEVEL", "INFO", Choice(names=("DEBUG", "INFO", "WARNING", "ERROR"))).says(
        "the least level of log lines: DEBUG, INFO, WARNING, ERROR"
    ),
    Setting("COOKIES_ENABLED", False, Switch()).says(
        "a crawl must not depend on the order of pages (and tldextract would use the network)"
    ),
)
GROUPS = (FRONTIER, STORE, GRAPHS, TABLES, LOGS, SCRAPY)
