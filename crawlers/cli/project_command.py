"""The common base of this project's commands: it reads a file of settings, and checks the names of settings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from scrapy.commands import ScrapyCommand

from crawlers.cli.setting_checks import CMDLINE, check_settings, check_typed, kinds_of_settings
from crawlers.errors import ConfigError
from crawlers.inputs.program import suggested
from crawlers.inputs.settings_file import read_settings
from crawlers.options.file_kinds import LOG, PROCESS_NUMBER, PROFILE
from crawlers.storage.files.writable import check_file

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings

    from crawlers.options.file_kinds import FileKind

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
