"""`scrapy lab`: compares site rules and crawls, before one and after it, and learns from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlers.cli.store_command import StoreCommand

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

    from crawlers.lab.options import LabPart


class Command(StoreCommand):
    @property
    def _parts(self) -> Mapping[str, LabPart]:
        from crawlers.lab import PARTS  # not with this module: for any command, Scrapy imports those of all

        return PARTS

    def syntax(self) -> str:
        return f"{' | '.join(self._parts)} [options]"

    def short_desc(self) -> str:
        return "Compare site rules and crawls; learn from harvests"

    def long_desc(self) -> str:
        return " ".join(f"{name}: {part.HELP}" for name, part in self._parts.items())

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        from crawlers.lab.options import LabOptions

        super().add_options(parser)
        self._options = LabOptions(parser, self._parts)

    def run_checked(self, args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> None:
        from crawlers.options.removed import REMOVED_PARTS

        if args and args[0] in REMOVED_PARTS:
            raise UsageError(f"there is no part {args[0]} any more: {REMOVED_PARTS[args[0]]}")
        if not args or args[0] not in self._parts or (args[1:] and "names" not in self._parts[args[0]].TAKES):
            raise UsageError(f"expected one of: {', '.join(self._parts)}")
        opts.names = args[1:]
        self._options.refuse_others(args[0], opts)
        self._parts[args[0]].run(opts, settings)
