"""The settings of any crawl: what is fetched, from which site next, how politely, what is kept of it, and its outputs.

Those of stores, logs and the panel, and of Scrapy that people choose, come after those of the missions.
"""

from __future__ import annotations

from crawlers.options.kinds import (
    CSV_LOG,
    RESULT,
    WARC,
    Choice,
    File,
    Names,
    Number,
    Reach,
    Setting,
    Switch,
    Table,
    Text,
    Whole,
    group,
)

MACHINE, RESULTS = Reach.MACHINE, Reach.RESULTS

_EXTENSIONS = (
    "7z aac ai apk asc asf asx atom au avi bin bmp bz2 cab css csv deb djvu dmg doc docm docx dot dotx dvi dwg "
    "eot eps epub exe f4v flac flv gem gif gz ico ics iso jar jpeg jpg js json jsonld key less lz lzma m3u m3u8 "
    "m4a m4v map mbox mid midi mjs mkv mobi mov mp2 mp3 mp4 mpeg mpg msi numbers odg odp ods odt ogg ogv otf "
    "pages patch pdf pkg png pot pps ppsx ppt pptm pptx ps psd rar rdf rm rpm rss rtf sh sig sit sql svg swf "
    "tar tbz2 tgz tif tiff torrent ttf txt wav webm webp wma wmv woff woff2 xls xlsm xlsx xml xz zip zst"
).split()
# In PHP-Nuke and Slash, `sid` is the number of an article. So it is dropped only if its value is a hash, as in phpBB:
# 16 hexadecimal digits or more.
_TRACKING = (
    "utm_* fbclid gclid dclid msclkid yclid ysclid _openstat mc_cid mc_eid "
    "phpsessid jsessionid aspsessionid* cfid cftoken session_id sessionid sid=hex s=hex"
).split()


THE_CRAWL = group(
    "The crawl",
    Setting("SETTINGS_FILE", "", Text("A path"), MACHINE).says("a TOML file with further settings; empty: none"),
    Setting("DATABASE_URL", "sqlite:///crawl.sqlite", Text("A database URL"), MACHINE).says(
        "the database of everything"
    ),
    Setting("CRAWL", "", Text("A name"), MACHINE).says("name of the crawl; empty: the spider's name"),
    Setting("RULE", "", Choice(of="bandits.site_rules:RULES"), RESULTS).says(
        "which site next; empty: chosen by PROFILE"
    ),
    Setting("PROFILE", "", Choice(of="inputs.setting_readers:PROFILES"), RESULTS).says(
        "kind of the sites: universities (ucb1), institutes (gittins); empty: that of the mission, or roundrobin"
    ),
    Setting("ORDER", "bfs", Choice(of="inputs.setting_readers:order_names"), RESULTS).says("which page of it next"),
    Setting("SCOPE", "sites", Names("`sites`, `all`, or domains"), RESULTS).says(
        "sites that links may lead to: sites (the listed ones), all, or comma-separated domains"
    ),
    Setting("MAX_LEVEL", None, Whole(or_none=True), RESULTS).says(
        "deepest level fetched, inclusive; None: no limit; hosts.txt takes precedence"
    ),
    Setting("PAGE_BUDGET", 0, Whole(), RESULTS).says(
        "pages of the whole crawl, including failed downloads; 0: no limit"
    ),
    Setting("REWARD", "new_links", Choice(of="bandits.site_rules:REWARDS"), RESULTS).says(
        "what a harvest counts: new_links, links, new_hosts"
    ),
    Setting("LINK_TAGS", "a", Names("Elements"), RESULTS).says(
        "tags whose links count: a, area, frame, iframe, link, meta"
    ),
    Setting("RESULT_FOLDER", "result", File("A folder", kind=RESULT), RESULTS).says("for graphs and other results"),
    Setting("RESULT_FOLDER_PER_CRAWL", False, Switch()).says(
        "below it, each crawl has a folder of its own: NAME-NUMBER"
    ),
    Setting("SAVE_DUPLICATES", True, Switch()).says("keep the rows of duplicate pages after the crawl"),
    Setting("STOP_FILE", "stop.txt", File()).says("the crawl stops when this file appears; empty: no such file"),
    Setting("TIMEOUT_SECONDS", 0.0, Number()).says("seconds after which the crawl stops; 0: never"),
    Setting("WORKERS", 1, Whole(least=1, most=256)).says("processes of this machine that share the crawl"),
)
POLITENESS = group(
    "Politeness",
    Setting("SITE_PARALLEL", 2, Whole(least=1)).says(
        "downloads at a time from a site, unless hosts.txt states another number"
    ),
    Setting("SITE_DELAY_SECONDS", 1.0, Number()).says(
        "seconds between the starts of two downloads from a site, unless hosts.txt states another delay"
    ),
    Setting("ROBOTS_MAX_DELAY_SECONDS", 60.0, Number(), RESULTS).says("a longer Crawl-delay is reduced to this"),
    Setting("ROBOTS_REST_SECONDS", 300.0, Number()).says(
        "seconds before a robots.txt that could not be read is requested again; doubles each time; 0: never"
    ),
    Setting("REFUSE_PRIVATE_ADDRESSES", True, Switch(), MACHINE).says(
        "no connections into private networks, except those of the listed sites"
    ),
    Setting("RETRY_BACKOFF_SECONDS", 1.0, Number()).says(
        "seconds before the first retry of a failed download; doubles each time"
    ),
    Setting("RETRY_REST_TIMES", 10, Whole()).says("retries after a response with status 429 or 503"),
)
JAVASCRIPT = group(
    "JavaScript",
    Setting("RENDER", "", Choice(names=("", "none", "playwright")), RESULTS).says(
        "playwright: Chromium renders all pages, unless hosts.txt states `render=none`; empty: none"
    ),
    Setting("RENDER_BROWSER", "", Text("A path, or the name of a program"), MACHINE).says(
        "path or name of Chromium; empty: the one on PATH"
    ),
    Setting("RENDER_PAGES", 4, Whole(least=1)).says("pages that are rendered at a time"),
    Setting("RENDER_TIMEOUT_SECONDS", 30.0, Number(above=True)).says(
        "seconds of the browser per page, without waits for the delay of the site"
    ),
)
FETCHED = group(
    "What is fetched",
    Setting("HTTP_CLIENT", "curl", Choice(of="downloader.http:CLIENTS")).says(
        "what downloads pages: curl (libcurl) or twisted (Scrapy's own client)"
    ),
    Setting(
        "HTML_TYPES",
        ["text/html", "application/xhtml+xml"],
        Names("Content types", like="[^\\s/]+/[^\\s/]+", such="text/html"),
    ).says("content types of pages"),
    Setting("IGNORED_EXTENSIONS", _EXTENSIONS, Names("Extensions")).says("never requested"),
    Setting("URL_INCLUDE", [], Names("Expressions"), RESULTS).says(
        "expressions of RE2 with commas between them; only URLs whose normal form contains one are fetched; empty: all"
    ),
    Setting("URL_EXCLUDE", [], Names("Expressions"), RESULTS).says("URLs that contain one of them are not fetched"),
    Setting("TRAPS_ENABLED", True, Switch()).says("cut calendars, session ids and other endless parts of sites"),
)
SITEMAPS = group(
    "Sitemaps",
    Setting("SITEMAPS_ENABLED", True, Switch(), RESULTS).says(
        "read the sitemaps of each site; off: none, and reports about them are empty"
    ),
)
RULES = group(
    "Rules",
    Setting("RULE_WAIT_SECONDS", 30.0, Number(), RESULTS).says(
        "seconds that a crawl with a budget waits for a site after its last request; 0: never"
    ),
    Setting("ROUNDROBIN_QUANTUM_PAGES", 1, Whole(least=1), RESULTS).says("pages of a site per turn"),
    Setting("ROUNDROBIN_QUANTUM_SECONDS", 0.0, Number(), RESULTS).says("seconds of a turn; 0: only the pages count"),
    Setting("GITTINS_BATCH_PAGES", 10, Whole(least=1), RESULTS).says(
        "the n of gittins: pages read of a site before the next choice"
    ),
    Setting("UCB1_INITIAL_PAGES", 5, Whole(least=1), RESULTS).says("the m of ucb1: pages read of every site at first"),
)
ORDERS = group(
    "Orders",
    Setting("AOPIC_VIRTUAL_SHARE", 0.15, Number(most=1, above=True), RESULTS).says(
        "share of all paid cash that goes to the virtual page; above 0, at most 1"
    ),
    Setting("AOPIC_WINDOW_VISITS", 2.0, Number(above=True), RESULTS).says(
        "average visits to each page over which its importance is measured"
    ),
    Setting("AOPIC_UNCRAWLED_WEIGHT", 1.0, Number(least=1, most=float("inf")), RESULTS).says(
        "cash from the virtual page to an unfetched page, relative to fetched ones; at least 1"
    ),
    Setting("LINK_PRIOR", "shipped", Choice(names=("shipped", "none"), or_file=True), RESULTS).says(
        "weights with which ORDER=learnt begins: shipped, none, or a file of scrapy lab learn"
    ),
)
URLS = group(
    "URLs",
    Setting(
        "URL_NORMALIZATION",
        ["default"],
        Names("A profile, or steps"),
        RESULTS,
    ).says("which variants of a URL are one page: default, rccrawler, beebot, or a list of steps"),
    Setting("URL_IGNORED_PARAMETERS", _TRACKING, Names("Names of parameters"), RESULTS).says(
        "parameters that do not affect the page: tracking and sessions"
    ),
    Setting("URL_IP_NAMES", {}, Table(of_texts=True), MACHINE).says("IP address -> host name that stands for it"),
    Setting("PUBLIC_SUFFIX_LIST", "", Text("A path"), MACHINE).says(
        "a newer Public Suffix List; empty: the one that comes with the project"
    ),
)
GROUPS = (THE_CRAWL, POLITENESS, JAVASCRIPT, FETCHED, SITEMAPS, RULES, ORDERS, URLS)


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
GROUPS_AFTER_MISSIONS = (FRONTIER, STORE, GRAPHS, TABLES, LOGS, SCRAPY)
