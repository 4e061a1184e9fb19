"""Every setting, grouped, with unit and default. Each has a heading in docs/reference/settings.md (a test compares).

Scrapy's own settings that matter here come last; all others keep Scrapy's defaults.
"""

from __future__ import annotations

# The crawl

SETTINGS_FILE = ""  # a TOML file with further settings; empty: none
DATABASE_URL = "sqlite:///crawl.sqlite"  # the database of everything; postgresql+psycopg://user@host/name
CRAWL = ""  # name of the crawl; empty: the spider's name
RULE = ""  # which site next, see docs/explanation/bandits.md; empty: chosen by PROFILE
PROFILE = ""  # kind of the sites: universities (ucb1), institutes (gittins); empty: roundrobin, auto in extlinks
# Which page of it next: bfs, groups, learnt, aopic, aopic-cyclic, aopic-random, opic, topic, fit, fit*opic
ORDER = "bfs"
SCOPE = "sites"  # sites of a broad crawl: sites (the listed ones), all, or comma-separated domains
MAX_LEVEL = None  # deepest level fetched, inclusive; None: no limit; hosts.txt takes precedence
PAGE_BUDGET = 0  # pages of the whole crawl, including failed downloads; 0: no limit
REWARD = "new_links"  # what a harvest counts: new_links, links, new_hosts
LINK_TAGS = "a"  # tags whose links count: a, area, frame, iframe, link, meta
RESULT_FOLDER = "result"  # for graphs and other results
RESULT_FOLDER_PER_CRAWL = False  # below it, each crawl has a folder of its own: NAME-NUMBER
SAVE_DUPLICATES = True  # keep the rows of duplicate pages after the crawl
STOP_FILE = "stop.txt"  # the crawl stops when this file appears; empty: no such file
TIMEOUT_SECONDS = 0.0  # seconds after which the crawl stops; 0: never
WORKERS = 1  # processes of this machine that share the crawl

SCOPE_MAX_SITES = 100_000  # sites of a crawl; links to further sites are stored as external links

# Politeness

SITE_PARALLEL = 2  # downloads at a time from a site, unless hosts.txt states another number
SITE_DELAY_SECONDS = 1.0  # seconds between the starts of two downloads from a site, likewise
ROBOTS_MAX_DELAY_SECONDS = 60.0  # a longer Crawl-delay is reduced to this
ROBOTS_REST_SECONDS = 300.0  # before a robots.txt that could not be read is requested again; doubles each time
ROBOTS_MAX_REST_SECONDS = 14_400.0  # up to this
ROBOTS_REST_TIMES = 6  # times that it is requested again; then the URLs of its site are rejected
ROBOTS_LAST_WAIT_SECONDS = 60.0  # when only such sites are left: until the last request for their robots.txt
REFUSE_PRIVATE_ADDRESSES = True  # no connections into private networks, except those of the listed sites
RETRY_BACKOFF_SECONDS = 1.0  # before the first retry of a failed download; doubles each time
RETRY_REST_TIMES = 10  # retries after a response with status 429 or 503

# JavaScript

RENDER = ""  # playwright: Chromium renders all pages, unless hosts.txt states `render=none`; empty: none
RENDER_BROWSER = ""  # path or name of Chromium; empty: the one on PATH
RENDER_PAGES = 4  # pages that are rendered at a time
RENDER_TIMEOUT_SECONDS = 30.0  # seconds of the browser per page, without waits for the delay of the site
RENDER_VIRTUAL_SECONDS = 5.0  # seconds of the clock of the page in which its scripts may act
RENDER_REQUESTS = 100  # requests of the scripts of one page
RENDER_MEMORY_MB = 512  # megabytes of the objects of scripts of one page

# What is fetched

HTTP_CLIENT = "curl"  # what downloads pages: curl (libcurl) or twisted (Scrapy's own client)
HTML_TYPES = ["text/html", "application/xhtml+xml"]  # content types of pages
FEED_TYPES: list[str] = []  # substrings of other content types whose bodies are read; news: those of feeds
IGNORED_EXTENSIONS = (  # never requested
    "7z aac ai apk asc asf asx atom au avi bin bmp bz2 cab css csv deb djvu dmg doc docm docx dot dotx dvi dwg "
    "eot eps epub exe f4v flac flv gem gif gz ico ics iso jar jpeg jpg js json jsonld key less lz lzma m3u m3u8 "
    "m4a m4v map mbox mid midi mjs mkv mobi mov mp2 mp3 mp4 mpeg mpg msi numbers odg odp ods odt ogg ogv otf "
    "pages patch pdf pkg png pot pps ppsx ppt pptm pptx ps psd rar rdf rm rpm rss rtf sh sig sit sql svg swf "
    "tar tbz2 tgz tif tiff torrent ttf txt wav webm webp wma wmv woff woff2 xls xlsm xlsx xml xz zip zst"
).split()
# Expressions of RE2 that are searched in normal forms of URLs, with commas between them; see docs/reference/settings.md
URL_INCLUDE: list[str] = []  # only URLs that contain one of them are fetched; empty: all
URL_EXCLUDE: list[str] = []  # URLs that contain one of them are not fetched
TRAPS_ENABLED = True  # cut calendars, session ids and other endless parts of sites

# Sitemaps: of site graphs, to be compared with the pages

SITEMAPS_ENABLED = True  # read the sitemaps of each site; off: none, and reports about them are empty
SITEMAPS_MAX_FILES = 100  # sitemaps of a site, indexes among them
SITEMAPS_MAX_URLS = 1_000_000  # URLs of a site's sitemaps, some 100 bytes each in the store

# Rules: which site next

RULE_INDEX_SHARE = 0.9  # share of the best index that a site needs while better ones rest; 0: nobody waits
RULE_WAIT_SECONDS = 30.0  # that a crawl with a budget waits for a site after its last request; 0: never
RULE_SEED = 0  # of orders that use random numbers, and of thompson in scrapy lab
ROUNDROBIN_QUANTUM_PAGES = 1  # pages of a site per turn
ROUNDROBIN_QUANTUM_SECONDS = 0.0  # seconds of a turn; 0: only the pages count
GITTINS_BATCH_PAGES = 10  # the n of gittins: pages read of a site before the next choice
UCB1_INITIAL_PAGES = 5  # the m of ucb1: pages read of every site at first
REWARD_CACHE_KEYS = 1_000_000  # external URLs kept in memory, some 100 bytes each; others are looked up in the store

# Orders: which page next

AOPIC_VIRTUAL_SHARE = 0.15  # share of all paid cash that goes to the virtual page; above 0, at most 1
AOPIC_WINDOW_VISITS = 2.0  # average visits to each page over which its importance is measured
AOPIC_UNCRAWLED_WEIGHT = 1.0  # cash from the virtual page to an unfetched page, relative to fetched ones; at least 1
LINK_PRIOR = "shipped"  # weights with which ORDER=learnt begins: shipped, none, or a file of scrapy lab learn

# Topics

TOPIC_LANGUAGE = "auto"  # of topic files without a language: auto (by script), en, ru, zh, de …
TOPIC_STRATEGY = ""  # overrides that of the topic file: learnt, anchor, breadth, links, mixed; empty: it does not
TOPIC_RESULTS = ["csv", "gexf"]  # written when the crawl stops: csv, gexf; empty: none

# News

FIT_FACTOR = 1.0  # s_fit: factor of the score of a URL that a rule classifies as an article
FIT_ELSE_FACTOR = 0.01  # s_n: factor of other URLs
EXPLORE_SHARE = 0.05  # of a site's downloads, for URLs that match no rule while others do
ARCHIVE_SHARE = 0.03  # of a site's downloads, for pagination and calendars, likewise
NEWS_RULES_ENABLED = True  # use the stored rules, manual or learnt; off: only feeds tell which URLs are articles
NEWS_LEARN_RULES = True  # learn which URLs of a site are articles
NEWS_PRIOR_ENABLED = True  # until a site has rules, a model of the URLs of all sites tells which are probably articles
NEWS_HUBS = 20  # pages of a site that are polled for new articles, in addition to its feeds
NEWS_ONCE = False  # end the crawl when nothing waits except later polls
NEWS_RECHECK_HOURS = 0.0  # hours after which an article is fetched once more to find changes; 0: never
FEED_POLLS_PER_SECOND = 1.0  # polls of all feeds and hubs together, on average
FEED_MIN_SECONDS = 300.0  # seconds between two polls of a feed, at least
FEED_MAX_SECONDS = 21_600.0  # likewise, at most
FEED_DEADLINE_SECONDS = 43_200.0  # seconds between the publication of an article and its storage
NEWS_ITERATION_PAGES = 1000  # downloads of an iteration; 0: not limited by number
NEWS_ITERATION_MINUTES = 0.0  # minutes of an iteration, if they end first; 0: not limited by time
NEWS_ALARM_MINUTES = 10.0  # between two checks of the sources; 0: only at the end
NEWS_ALARM_DEAD_FEED_HOURS = 24.0  # hours that a feed may fail
NEWS_ALARM_UNREACHABLE_HOURS = 24.0  # hours that the start page and all feeds of a source may fail
NEWS_ALARM_SILENT_DAYS = 3.0  # days without a new article of a source, or ten times its usual interval
NEWS_ALARM_DISCOVERY_DAYS = 2.0  # days without a new URL of an accessible source, likewise
NEWS_FAIL_ON_ALARM = False  # exit with a status other than 0 if alarms are open at the end
DOCUMENTS_PARQUET = ""  # a Parquet file of all documents, written when the crawl stops; empty: none
EXTRACTION_PROCESSES = 2  # processes that extract articles from pages
EXTRACTION_TIMEOUT_SECONDS = 30.0  # seconds per page
DOCUMENT_KEYS_URL = ""  # database of document keys: redis://host/0; empty: the store

# URLs: steps of the normal form, which is the same for all variants of a URL

URL_LOWER_CASE_HOST = True  # HTTP://Example.com -> http://example.com
URL_DROP_DEFAULT_PORT = True  # http://example.com:80 -> http://example.com
URL_UPPER_CASE_ESCAPES = True  # %3a -> %3A
URL_DECODE_UNRESERVED = True  # %7Euser -> ~user
URL_ADD_TRAILING_SLASH = True  # /folder -> /folder/, only where the last segment has no dot
URL_REMOVE_DOT_SEGMENTS = True  # /a/../b -> /b
URL_DROP_FRAGMENT = True  # /a#b -> /a
URL_MERGE_SLASHES = True  # /a//b -> /a/b
URL_SORT_PARAMETERS = True  # ?b=1&a=2 -> ?a=2&b=1
URL_DROP_EMPTY_QUERY = True  # /? -> /
URL_DROP_EMPTY_PARAMETERS = True  # ?a=&b=1 -> ?b=1
URL_DROP_VALUELESS_PARAMETERS = False  # ?a&b=1 -> ?b=1, as in RCCrawler
URL_LOWER_CASE = False  # the whole URL, as in BeeBot: /A -> /a
URL_DROP_FINAL_SLASH = False  # likewise: /a/ -> /a
URL_IP_NAMES: dict[str, str] = {}  # IP address -> host name that stands for it
PUBLIC_SUFFIX_LIST = ""  # a newer Public Suffix List; empty: the one that comes with the project
URL_IGNORED_PARAMETERS = (  # parameters that do not affect the page: tracking and sessions
    # In PHP-Nuke and Slash, `sid` is the number of an article. So it is dropped only if its value is a hash, as in
    # phpBB: 16 hexadecimal digits or more.
    "utm_* fbclid gclid dclid msclkid yclid ysclid _openstat mc_cid mc_eid "
    "phpsessid jsessionid aspsessionid* cfid cftoken session_id sessionid sid=hex s=hex"
).split()

# The frontier

FRONTIER_CACHE_URLS = 12_000_000  # known URLs kept in memory, some 25 bytes each; others are looked up in the store
FRONTIER_HEAD_URLS = 100_000  # waiting URLs kept in memory, of all sites together

# The store

WORKER_DEADLINE_SECONDS = 30.0  # seconds without a sign of life, after which others take over the sites of a worker
WORKER_REJOIN_SECONDS = 600.0  # seconds for which a worker waits for a store that can't be reached
STORE_BATCH_PAGES = 200  # pages per transaction
STORE_BATCH_SECONDS = 1.0  # seconds that a page waits for its transaction at most

WARC_FILE = ""  # a .warc.gz file to which every response is appended; empty: none

# Graphs

GRAPH_FORMATS = ["gexf"]  # written when the crawl stops: gexf, graphml, csv, parquet; empty: none
GRAPH_LAYOUT = ["level", "in_degree"]  # of GEXF: level or community (colours), in_degree or pagerank (sizes)
GRAPH_MEASURES: list[str] = []  # computed for graphs: pagerank, hub, authority, component, component_size

# Tables of URLs and links

# Written when the crawl stops: pages, broken-links, redirects, external-links; empty: none
RESULT_TABLES = ["pages", "broken-links", "redirects", "external-links"]

# Logs and progress

COMMON_LOG_FILE = "logs/common_log.csv"  # one line per response; empty: no such log
ERROR_LOG_FILE = "logs/error_log.csv"  # one line per error; empty: no such log
PROGRESS_ENABLED = None  # a live display; None: when standard error is a terminal
PROGRESS_INTERVAL_SECONDS = 0.5  # seconds between two queries of the store
LOG_JSON = False  # log lines are JSON objects, for programs that collect them
WEB_PASSWORD = ""  # of the panel, `scrapy web`; needed when other machines can reach it
WEB_HOSTS = ""  # further names of the panel, host or host:port, separated by commas
SCRAPYD_URL = ""  # where the panel starts crawls, http://host:6800; empty: as processes of this machine
METRICS_PORT = 0  # metrics for Prometheus, on the first free port from this one on; 0: none
METRICS_ADDRESS = "127.0.0.1"  # at which they are served; the default is reached from this machine only
FAIL_ON_UNAVAILABLE = False  # exit with status 3 if a listed site is not available; off: only if no page was read

# Scrapy

BOT_NAME = "crawlers"
SPIDER_MODULES = ["crawlers.spiders"]
NEWSPIDER_MODULE = "crawlers.spiders"
COMMANDS_MODULE = "crawlers.commands"
SCHEDULER = "crawlers.schedulers.adaptive.AdaptiveScheduler"
ITEM_PIPELINES = {
    "crawlers.pipelines.store.StorePipeline": 900,  # after those of users
    "crawlers.pipelines.document_items.DocumentPipeline": 950,
    "crawlers.pipelines.graphs.GraphPipeline": 960,
    "crawlers.pipelines.url_tables.TablePipeline": 965,
    "crawlers.pipelines.topic.TopicPipeline": 970,
}
SPIDER_MIDDLEWARES = {"crawlers.middlewares.callbacks.CallbackMiddleware": 10}  # the outermost: nearest to the engine
EXTENSIONS = {
    "crawlers.extensions.crawl_owner.CrawlOwner": 0,
    "crawlers.extensions.address_filter.AddressFilter": 0,
    "crawlers.extensions.pending_callbacks.PendingCallbacks": 0,
    "crawlers.extensions.stopping.Stopping": 0,
    "crawlers.extensions.rounds.Rounds": 0,
    "crawlers.extensions.news_chart.NewsChart": 0,
    "crawlers.extensions.parquet.ParquetExport": 0,
    "crawlers.extensions.alarm_checks.AlarmChecks": 0,
    "crawlers.extensions.browser.Browser": 0,
    "crawlers.extensions.warc.Warc": 0,
    "crawlers.extensions.metrics_server.MetricsServer": 0,
    "scrapy.extensions.feedexport.FeedExporter": None,
    "crawlers.extensions.worker_feeds.WorkerFeeds": 0,
    "crawlers.extensions.progress.Progress": 0,
    "crawlers.extensions.summary.CrawlSummary": 10,  # below the live table
    "crawlers.extensions.gc_tuning.GcTuning": 0,
}
DOWNLOAD_HANDLERS = dict.fromkeys(("http", "https"), "crawlers.handlers.http.HTTPHandler")
DOWNLOADER_MIDDLEWARES = {
    # The scheduler obeys robots.txt, before a request exists.
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "crawlers.middlewares.rendering.RenderingMiddleware": 50,  # the last to see a response: complete and decompressed
    "crawlers.middlewares.redirects.RedirectMiddleware": 610,  # next to Scrapy's own (600), which ours bypass
    "crawlers.middlewares.content_types.ContentTypeMiddleware": 595,  # just before decompression, 590
}
ADDONS = {
    "crawlers.extensions.default_components.DefaultComponents": 0,  # keeps these components when a user adds others
    "crawlers.extensions.log_format.DebugDumps": 0,
    "crawlers.extensions.json_log.JsonLog": 0,
}
LOG_FORMATTER = "crawlers.extensions.log_format.PageLogFormatter"
ROBOTSTXT_OBEY = True  # request only what robots.txt allows
ROBOTSTXT_USER_AGENT = None
# How requests name the crawler: say who you are, and where webmasters reach you
USER_AGENT = "crawlers/0.1 (+https://example.org/crawlers)"
CONCURRENT_REQUESTS = 64  # of all sites together
CONCURRENT_REQUESTS_PER_DOMAIN = 1000  # the frontier's gates decide
DOWNLOAD_DELAY = 0.0  # likewise
DOWNLOAD_TIMEOUT = 60.0  # seconds
DOWNLOAD_MAXSIZE = 16 * 1024 * 1024  # bytes; a larger page is refused
DOWNLOAD_WARNSIZE = 0  # a large page has a state and a reason instead of a warning
RETRY_TIMES = 2  # retries after an error
LOG_LEVEL = "INFO"  # the least level of log lines: DEBUG, INFO, WARNING, ERROR
COOKIES_ENABLED = False  # a crawl must not depend on the order of pages (and tldextract would use the network)
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False  # no code is run in a crawl from outside
FEED_EXPORT_ENCODING = "utf-8"
FEED_EXPORTERS = {"csv": "crawlers.extensions.csv_items.GuardedCsvExporter"}  # no formulas of strangers
