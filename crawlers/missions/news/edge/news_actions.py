"""The actions of `scrapy sites` on feeds, alarms and URL rules; what they do is imported when one runs."""

from crawlers.cli.sites.action import Action

_FEEDS, _RULES = (f"crawlers.missions.news.edge.{name}" for name in ("site_feeds", "site_url_rules"))
ACTIONS = {
    "feeds": Action(
        f"{_FEEDS}:show", "[SITE]", "print feeds and sitemaps, and what was wrong with them", 0, 1, ("all",)
    ),
    "add-feed": Action(f"{_FEEDS}:add", "SITE URL", "poll this feed", 2, 2),
    "remove-feed": Action(f"{_FEEDS}:remove", "SITE URL", "no longer poll this feed", 2, 2),
    "alarms": Action(f"{_FEEDS}:show_alarms", "[SITE]", "print the open alarms of news crawls", 0, 1, ("all",)),
    "rules": Action(f"{_RULES}:show", "[SITE]", "print the rules that say which URLs are articles", 0, 1),
    "add-rule": Action(f"{_RULES}:add", "SITE REGEX", "add a rule", 2, 2, ("weight",)),
    "pin-rule": Action(f"{_RULES}:pin", "N", "keep the rule when rules are learnt again", 1, 1),
    "edit-rule": Action(f"{_RULES}:edit", "N REGEX", "change the regular expression of a rule", 2, 2),
    "forbid-rule": Action(f"{_RULES}:forbid", "N", "say that URLs that match it are never articles", 1, 1),
    "remove-rule": Action(f"{_RULES}:remove", "N", "remove a rule; it may be learnt again", 1, 1),
    "test-rule": Action(
        f"{_RULES}:run",
        "REGEX|N [URL ...|FILE]",
        "print which URLs a regular expression, or a rule, matches",
        options=("site",),
    ),
}
