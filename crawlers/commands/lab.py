"""`scrapy lab`: compares site rules, topic crawls and news crawls, and learns from crawls, before one and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlers.cli.lab import lab_learn, lab_news, lab_replay, lab_report, lab_simulate, lab_topic
from crawlers.cli.lab.lab_options import LabOptions, LabPart
from crawlers.cli.outcome import reporting_errors
from crawlers.cli.project_command import ProjectCommand

if TYPE_CHECKING:
    import argparse

PARTS: dict[str, LabPart] = {
    "simulate": lab_simulate,
    "replay": lab_replay,
    "report": lab_report,
    "learn": lab_learn,
    "topic": lab_topic,
    "news": lab_news,
}
NAMING = ("learn", "news")  # those that take names of crawls


class Command(ProjectCommand):
    requires_project = True
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - Scrapy's convention

    def syntax(self) -> str:
        return f"{' | '.join(PARTS)} [options]"

    def short_desc(self) -> str:
        return "Compare site rules, topic crawls, and news crawls; learn from harvests"

    def long_desc(self) -> str:
        return " ".join(f"{name}: {part.HELP}" for name, part in PARTS.items())

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        self._options = LabOptions(parser, PARTS)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or args[0] not in PARTS or (len(args) > 1 and args[0] not in NAMING):
            raise UsageError(f"expected one of: {', '.join(PARTS)}")
        assert self.settings is not None
        opts.names = args[1:]
        with reporting_errors(self):
            self.check_settings()
            self._options.refuse_others(args[0], opts)
            PARTS[args[0]].run(opts, self.settings)
