"""The settings of news."""

from __future__ import annotations

from crawlers.options.kinds import PARQUET, Choice, File, Number, Reach, Setting, Switch, Whole, group

RESULTS = Reach.RESULTS


SETTINGS = group(
    "News",
    Setting("EXPLORE_SHARE", 0.05, Number(most=0.97), RESULTS).says(
        "of a site's downloads, for URLs that are probably no articles"
    ),
    Setting("NEWS_RULES", "learnt", Choice(names=("learnt", "manual", "none")), RESULTS).says(
        "which rules tell that a URL is an article: learnt (and manual) ones, only manual ones, or none: feeds do"
    ),
    Setting("NEWS_ONCE", False, Switch()).says("end the crawl when nothing waits except later polls"),
    Setting("NEWS_RECHECK_HOURS", 0.0, Number()).says(
        "hours after which an article is fetched once more to find changes; 0: never"
    ),
    Setting("FEED_POLLS_PER_SECOND", 1.0, Number(above=True)).says("polls of all feeds and hubs together, on average"),
    Setting("FEED_MIN_SECONDS", 300.0, Number(above=True)).says("seconds between two polls of a feed, at least"),
    Setting("FEED_MAX_SECONDS", 21600.0, Number(above=True)).says("seconds between two polls of a feed, at most"),
    Setting("NEWS_ITERATION_PAGES", 1000, Whole()).says("downloads of an iteration; 0: not limited by number"),
    Setting("NEWS_ALARM_HOURS", 24.0, Number()).says(
        "hours that a feed may fail, or the start URL and all feeds of a source"
    ),
    Setting("NEWS_ALARM_SILENT_DAYS", 3.0, Number()).says(
        "days without a new article of a source, or ten times its usual interval"
    ),
    Setting("NEWS_FAIL_ON_ALARM", False, Switch()).says(
        "exit with a status other than 0 if alarms are open at the end"
    ),
    Setting("DOCUMENTS_PARQUET", "", File(kind=PARQUET)).says(
        "a Parquet file of all documents, written when the crawl stops; empty: none"
    ),
    Setting("EXTRACTION_PROCESSES", 2, Whole(least=1)).says("processes that extract articles from pages"),
)
