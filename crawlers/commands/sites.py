"""`scrapy sites`: manages the sites that harvests crawl by default, with their feeds and rules."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from scrapy.exceptions import UsageError

from crawlers.cli.project_command import StoreCommand
from crawlers.plurals import plural

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scrapy.settings import BaseSettings

OPTIONS = ("name", "short", "parallel", "max_level", "delay", "all", "weight", "site", "sources")


class Command(StoreCommand):
    def syntax(self) -> str:
        return " | ".join(f"{name} {action.arguments}".strip() for name, action in ACTIONS.items())

    def short_desc(self) -> str:
        return "Manage the sites that harvests crawl, their feeds and rules"

    def long_desc(self) -> str:
        return (
            "Manages the seeds in the store (DATABASE_URL), with their feeds and the rules that say which URLs are "
            "articles. SITE is a number, a short name, a host, a domain or a URL. Actions: "
            + "; ".join(f"{name}: {action.about}" for name, action in ACTIONS.items())
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--name", help="add: full name")
        parser.add_argument("--short", metavar="NAME", help="add: short name that identifies the site")
        parser.add_argument("--parallel", metavar="N", help="add: downloads at a time (default: SITE_PARALLEL)")
        parser.add_argument("--max-level", metavar="N", help="add: deepest level fetched (default: MAX_LEVEL)")
        parser.add_argument("--delay", metavar="MS", help="add: milliseconds between downloads")
        parser.add_argument(
            "--all", action="store_true", default=None, help="list, feeds, alarms: include disabled or ended ones"
        )
        parser.add_argument(
            "--sources", action="store_true", default=None, help="list: show the results of news sources"
        )
        parser.add_argument("--weight", metavar="W", help="add-rule: from 0 (never an article) to 1 (the default)")
        parser.add_argument("--site", metavar="SITE", help="test-rule: try it on the pages of the site in the store")

    def run_checked(self, args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> None:
        if not args or args[0] not in ACTIONS:
            raise UsageError(f"expected one of: {', '.join(ACTIONS)}")
        action, *rest = args
        _check(action, rest, opts)
        module, function = ACTIONS[action].function.split(".")
        getattr(import_module(f"crawlers.cli.sites.{module}"), function)(settings, rest, opts)


class Action(NamedTuple):
    """An action: its function, its arguments, what it does, the numbers of its arguments, and its options."""

    function: (
        str  # with its module in `cli.sites`, which is imported when it runs: it takes settings, arguments, options
    )
    arguments: str
    about: str
    least: int = 1
    most: int = sys.maxsize
    options: Sequence[str] = ()


ACTIONS = {
    "add": Action(
        "site_seeds.add",
        "URL ...",
        "add seeds, or change existing ones",
        options=("name", "short", "parallel", "max_level", "delay"),
    ),
    "list": Action(
        "site_seeds.show", "", "print the enabled seeds, and what their latest crawl found", 0, 0, ("all", "sources")
    ),
    "remove": Action("site_seeds.remove", "SITE ...", "remove seeds; their crawls stay in the store"),
    "enable": Action("site_seeds.enable", "SITE ...", "crawl these seeds again"),
    "disable": Action("site_seeds.disable", "SITE ...", "leave these seeds out of crawls"),
    "import": Action("site_seeds.import_file", "FILE", "add the seeds of a CSV table, hosts.txt or sources.yaml", 1, 1),
    "export": Action("site_seeds.export", "[FILE]", "write all seeds as CSV", 0, 1),
    "feeds": Action(
        "site_feeds.show", "[SITE]", "print feeds and sitemaps, and what was wrong with them", 0, 1, ("all",)
    ),
    "add-feed": Action("site_feeds.add", "SITE URL", "poll this feed", 2, 2),
    "remove-feed": Action("site_feeds.remove", "SITE URL", "no longer poll this feed", 2, 2),
    "alarms": Action("site_feeds.show_alarms", "[SITE]", "print the open alarms of news crawls", 0, 1, ("all",)),
    "rules": Action("site_url_rules.show", "[SITE]", "print the rules that say which URLs are articles", 0, 1),
    "add-rule": Action("site_url_rules.add", "SITE REGEX", "add a rule", 2, 2, ("weight",)),
    "pin-rule": Action("site_url_rules.pin", "N", "keep the rule when rules are learnt again", 1, 1),
    "edit-rule": Action("site_url_rules.edit", "N REGEX", "change the regular expression of a rule", 2, 2),
    "forbid-rule": Action("site_url_rules.forbid", "N", "say that URLs that match it are never articles", 1, 1),
    "remove-rule": Action("site_url_rules.remove", "N", "remove a rule; it may be learnt again", 1, 1),
    "test-rule": Action(
        "site_url_rules.run",
        "REGEX|N [URL ...|FILE]",
        "print which URLs a regular expression, or a rule, matches",
        options=("site",),
    ),
}


def _check(name: str, rest: Sequence[str], opts: argparse.Namespace) -> None:
    action = ACTIONS[name]
    unknown = [text for text in rest if text.startswith("-") and text != "-"]
    if unknown:
        raise UsageError(f"unknown option {unknown[0]}")
    if not action.least <= len(rest) <= action.most:
        words, bound = ("at least", action.least) if len(rest) < action.least else ("at most", action.most)
        raise UsageError(f"sites {name}: expected {words} {bound} {plural(bound, 'argument')}, got {len(rest)}")
    foreign = [option for option in OPTIONS if option not in action.options and getattr(opts, option) is not None]
    if foreign:
        raise UsageError(f"sites {name} has no option --{foreign[0].replace('_', '-')}")
