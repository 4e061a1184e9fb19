"""News crawls: articles first, once, soon after they appear.

Begin with `news_run`, which coordinates feeds and polls (`feeds`, `plan`), rules of URLs (`urls`), articles
(`article`) and copies of documents (`dedup`). `stored` has the tables, `reports` what people see.
"""

from crawlers.mission import Mission, OwnOrder

ARTICLES = "URLs that are judged by whether they look like articles"
MISSION = Mission(
    "news",
    "articles as they appear",
    argument="sources",
    file="sources.yaml",
    reads_store=True,
    place=4,
    gives=frozenset({ARTICLES}),
    orders={"fit": OwnOrder(ARTICLES, "plan.news_scores:fit")},
    removed={
        "NEWS_ALARM_HOURS and NEWS_ALARM_SILENT_DAYS say when alarms are raised": (
            "NEWS_ALARM_MINUTES NEWS_ALARM_DEAD_FEED_HOURS NEWS_ALARM_UNREACHABLE_HOURS NEWS_ALARM_DISCOVERY_DAYS"
        ),
        "write NEWS_RULES=learnt, manual or none": "NEWS_RULES_ENABLED NEWS_LEARN_RULES NEWS_PRIOR_ENABLED",
        "leave it out: 3 % of a site's downloads go to archives": "ARCHIVE_SHARE",
        "leave it out: keys of documents are in the store": "DOCUMENT_KEYS_URL",
        "leave it out: the extraction of a page may take 30 seconds": "EXTRACTION_TIMEOUT_SECONDS",
        "leave it out: an article should be stored 12 hours after its publication": "FEED_DEADLINE_SECONDS",
        "leave it out: news reads feeds of any type": "FEED_TYPES",
        "leave it out: 20 pages of a site are polled besides its feeds": "NEWS_HUBS",
        "leave it out: the score of a URL is how probably it is an article": "FIT_FACTOR FIT_ELSE_FACTOR",
        "leave it out: NEWS_ITERATION_PAGES alone ends an iteration": "NEWS_ITERATION_MINUTES",
    },
    counters=(
        (
            "crawlers_documents_total",
            "Articles of a news crawl.",
            "outcome",
            {"new": "news/documents", "changed": "news/changed", "duplicate": "news/duplicates"},
        ),
    ),
    parts={
        "lab": "edge.lab_of_news",
        "tables": "stored.news_tables",
        "panel": "edge.news_pages",
        "actions": "edge.news_actions:ACTIONS",
        "sources": "edge.site_feeds:import_sources",
        "source_results": "edge.site_feeds:show_sources",
        "search": "reports.search",
        "words": "reports.news_reports:WORDS",
        "reports": "reports.document_list reports.news_reports",
        "pictures": "reports.news_pictures",
        "summary": "reports.news_summary:news_summary",
        "results": "articles:documents_found",
        "history": "reports.document_history:document_history",
        "scores": "reports.url_rule_trial:queue_facts",
        "guesses": "feeds.feed_registry:USUAL_PLACES",
    },
)
