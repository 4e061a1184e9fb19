"""`scrapy sites`: manages the sites that harvests crawl by default, with their feeds and rules."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlers.cli.store_command import StoreCommand
from crawlers.plurals import plural

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from scrapy.settings import BaseSettings

    from crawlers.cli.sites.action import Action

OPTIONS = ("name", "short", "parallel", "max_level", "delay", "all", "weight", "site", "sources")


class Command(StoreCommand):
    @property
    def _actions(self) -> Mapping[str, Action]:
        from crawlers.cli.sites.action import actions  # not with this module, see `lab`

        return actions()

    def syntax(self) -> str:
        return " | ".join(f"{name} {action.arguments}".strip() for name, action in self._actions.items())

    def short_desc(self) -> str:
        return "Manage the sites that harvests crawl, their feeds and rules"

    def long_desc(self) -> str:
        return (
            "Manages the seeds in the store (DATABASE_URL), with their feeds and the rules that say which URLs are "
            "articles. SITE is a number, a short name, a host, a domain or a URL. Actions: "
            + "; ".join(f"{name}: {action.about}" for name, action in self._actions.items())
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
        parser.add_argument("--sources", action="store_true", default=None, help="list: show the results of sources")
        parser.add_argument("--weight", metavar="W", help="add-rule: from 0 (never an article) to 1 (the default)")
        parser.add_argument("--site", metavar="SITE", help="test-rule: try it on the pages of the site in the store")

    def run_checked(self, args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> None:
        if not args or args[0] not in self._actions:
            raise UsageError(f"expected one of: {', '.join(self._actions)}")
        name, *rest = args
        action = self._actions[name]
        _check(name, action, rest, opts)
        resolve_name(action.function)(settings, rest, opts)


def _check(name: str, action: Action, rest: Sequence[str], opts: argparse.Namespace) -> None:
    unknown = [text for text in rest if text.startswith("-") and text != "-"]
    if unknown:
        raise UsageError(f"unknown option {unknown[0]}")
    if not action.least <= len(rest) <= action.most:
        words, bound = ("at least", action.least) if len(rest) < action.least else ("at most", action.most)
        raise UsageError(f"sites {name}: expected {words} {bound} {plural(bound, 'argument')}, got {len(rest)}")
    foreign = [option for option in OPTIONS if option not in action.options and getattr(opts, option) is not None]
    if foreign:
        raise UsageError(f"sites {name} has no option --{foreign[0].replace('_', '-')}")
