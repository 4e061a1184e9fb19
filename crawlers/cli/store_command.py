"""What the commands share that are no crawls: they read the store, and report errors in one sentence."""

from __future__ import annotations

import os
import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from scrapy.utils.log import configure_logging
from scrapy.utils.misc import walk_modules_iter

from crawlers import spiders
from crawlers.cli.project_command import ProjectCommand
from crawlers.errors import ConfigError, CrawlersError
from crawlers.inputs.program import suggested

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy.commands import ScrapyCommand
    from scrapy.settings import BaseSettings

    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl

MOST = 10_000_000  # of anything that is counted on the command line: the oracle of `scrapy lab` takes 24 bytes per page


class StoreCommand(ProjectCommand):
    """A command that is no crawl: it reports errors in one sentence, and logs nothing."""

    requires_project = True
    requires_crawler_process = False  # with it, Scrapy imports all that a crawl needs
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - Scrapy's convention

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        configure_logging(self.settings)  # as a crawler process does: else Python prints warnings

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        with reporting_errors(self):
            _import_spiders_of_users(self.settings)
            self.check_settings()
            self.run_checked(args, opts, self.settings)

    def run_checked(self, args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> None:
        """Run with settings that were checked. Raises `UsageError` or `CrawlersError`."""
        raise NotImplementedError


def opened_store(settings: BaseSettings) -> closing[Database]:
    """Return the store, for a with statement. Raises `ConfigError` if it does not exist."""
    from crawlers.store.database import Database

    return closing(Database(settings.get("DATABASE_URL"), create=False))


def _import_spiders_of_users(settings: BaseSettings) -> None:
    """Import what the project of the user adds, as Scrapy does for a crawl: its missions have tables and reports."""
    for name in settings.getlist("SPIDER_MODULES"):
        if name != spiders.__name__:
            try:
                list(walk_modules_iter(name))
            except ImportError as error:
                raise ConfigError(f"SPIDER_MODULES={name} can't be imported: {error}; correct it") from error


def whole_number(name: str, value: int, least: int) -> int:
    """Return *value* if it is from *least* to `MOST`; otherwise raise `ConfigError`."""
    if value < least:
        raise ConfigError(f"{name} {value} is too small; expected at least {least}")
    if value > MOST:
        raise ConfigError(f"{name} {value:,} is too large; expected at most {MOST:,}")
    return value


def read_crawl(database: Database, option: str | None, settings: SettingValues) -> NamedCrawl:
    """Return the crawl that *option* or the setting CRAWL names, and name it on standard error; see `crawl_named`.

    Standard output is left to the results, so that they can be piped. Raises `ConfigError`.
    """
    from crawlers.inputs.setting_readers import named_by
    from crawlers.store.reading.queries import crawl_named

    crawl = crawl_named(database, named_by(option, settings))
    print(f"Reading the {crawl}", file=sys.stderr)
    return crawl


@contextmanager
def reporting_errors(command: ScrapyCommand) -> Iterator[None]:
    """Print a `CrawlersError` that the block raises, and set the exit status of *command* to 2.

    A closed standard output, as with `head`, is not an error.
    """
    try:
        yield
        sys.stdout.flush()
    except CrawlersError as error:
        print(suggested(f"Error: {error}"), file=sys.stderr)
        command.exitcode = 2
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # otherwise Python flushes again at exit, and reports an error
        os.close(nowhere)
