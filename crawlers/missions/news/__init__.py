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
    orders={
        "fit": OwnOrder(ARTICLES, "plan.news_scores:fit"),
        "fit*opic": OwnOrder(ARTICLES, "plan.news_scores:fit_opic"),
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
        "results": "stored.documents:documents_found",
        "history": "reports.document_history:document_history",
        "scores": "reports.url_rule_trial:queue_facts",
        "guesses": "feeds.feed_registry:USUAL_PLACES",
    },
)
