"""What commands share: a file of settings, checked names of settings, errors in one sentence, the crawl to read."""

from __future__ import annotations

import os
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.utils.log import configure_logging
from scrapy.utils.misc import walk_modules_iter

from crawlers import spiders
from crawlers.cli.setting_checks import CMDLINE, check_settings, check_typed, kinds_of_settings
from crawlers.errors import ConfigError, CrawlersError, UnreachedError
from crawlers.files.atomic import check_file
from crawlers.files.text_file import shortened_list
from crawlers.inputs.crawl_name import named_by
from crawlers.inputs.program import suggested
from crawlers.options.kinds import LOG, PROCESS_NUMBER, PROFILE
from crawlers.reasons import Reason, sentence

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.options.kinds import FileKind
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl

MOST = 10_000_000  # of anything that is counted on the command line: the oracle of `scrapy lab` takes 24 bytes per page


class ProjectCommand(ScrapyCommand):
    """A base class, before that of a Scrapy command."""

    _mistake: ConfigError | None = None  # reported when the command runs, because only then the log is open

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.usage, parser.description = suggested(parser.usage or ""), suggested(parser.description or "")
        parser.add_argument(
            "--settings-file", metavar="FILE", help="read settings from this TOML file; those of -s take precedence"
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            check_typed(opts.set)
            _check_file("--pidfile", opts.pidfile, PROCESS_NUMBER)
            _check_file("--profile", vars(opts).get("profile"), PROFILE)  # scrapy lab has another option of this name
        except ConfigError as error:
            _refuse(error)
        super().process_options(args, opts)
        assert self.settings is not None
        if opts.settings_file:
            self.settings.set("SETTINGS_FILE", opts.settings_file, "cmdline")
        if path := self.settings.get("SETTINGS_FILE"):
            try:
                use_settings_file(self.settings, path)
            except ConfigError as error:
                self._mistake = error
        try:
            _check_file("LOG_FILE", self.settings.get("LOG_FILE"), LOG)
        except ConfigError as error:
            _refuse(error)

    def check_settings(self) -> None:
        """Raise `ConfigError` for what is wrong with the settings of the command line and of the file."""
        assert self.settings is not None
        mistakes = [] if self._mistake is None else [str(self._mistake)]
        try:
            check_settings(self.settings)
        except ConfigError as error:
            mistakes.append(str(error))
        if mistakes:
            raise ConfigError("\n".join(mistakes))


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


def _refuse(error: ConfigError) -> NoReturn:
    print(suggested(f"Error: {error}"), file=sys.stderr)
    sys.exit(2)


def _check_file(name: str, path: str | None, kind: FileKind) -> None:
    """Raise `ConfigError` if *path* can't be written: Scrapy opens it before the command runs."""
    if path:
        check_file(Path(path), name, kind)
        if not Path(path).parent.is_dir():
            raise ConfigError(f"{name}={path} can't be written (it has no folder); create it, or name another file")


def use_settings_file(settings: BaseSettings, path: str) -> None:
    """Add the settings in the file at *path*; those of the command line stay. Raises `ConfigError`."""
    from crawlers.inputs.settings_file import read_settings  # with a parser of TOML, which few commands need

    found = read_settings(path, kinds_of_settings())
    if "SETTINGS_FILE" in found:
        raise ConfigError(f"{path}: SETTINGS_FILE names another file; one file can't include another, so leave it out")
    for name, value in found.items():
        if settings.getpriority(name) != CMDLINE:
            settings.set(name, value, "cmdline")


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


def check_reach(database: Database, crawl_id: int, *, needs_all: bool) -> None:
    """Raise `UnreachedError` if a crawl that has ended read no page, unless its user stopped it.

    With *needs_all*, also if any site that a person named is not available.
    """
    from crawlers.store.reading.crawl_results import STOPPED_BY_USER, crawl_end, has_pages, unavailable_sites

    with database.read() as connection:
        missing = [f"{site}: {sentence(why)}" for site, why in unavailable_sites(connection, crawl_id)]
        is_empty = not has_pages(connection, crawl_id)
        end = crawl_end(connection, crawl_id).reason
    reasons = f" ({'; '.join(shortened_list(missing))})" if missing else ""
    if is_empty and end not in STOPPED_BY_USER:
        remedy = "check the addresses" if missing or end != Reason.TIMEOUT else "set a larger TIMEOUT_SECONDS"
        raise UnreachedError(f"no page could be read{reasons}; {remedy}, then run the same command again")
    if needs_all and missing:
        raise UnreachedError(f"FAIL_ON_UNAVAILABLE: sites are not available{reasons}; everything else is stored")
