"""What people see of the workers of a command: their lines, and the progress of their crawl."""

from __future__ import annotations

import logging
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from crawlers.errors import CrawlersError
from crawlers.extensions.progress import is_wanted
from crawlers.inputs.program import suggested
from crawlers.reports.live_display import LiveDisplay

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_BEGINS_A_RECORD = re.compile(r"\d{4}-\d\d-\d\d ")


class WorkersDisplay:
    """Lines of workers above one live display, if one is wanted; in LOG_FILE, if there is one."""

    def __init__(self, settings: BaseSettings) -> None:
        self._settings = settings
        self._is_wanted = is_wanted(settings)
        self._display: LiveDisplay | None = None
        self._is_error = False  # the last line was part of a message for the user

    def write(self, line: str, *, is_output: bool) -> None:
        """Show a line that a worker wrote in its log or, if *is_output*, on its standard output."""
        if is_output:
            print(line, file=sys.stderr if self._display is not None and sys.stdout.isatty() else sys.stdout)
            return
        stream = next((one.stream for one in logging.root.handlers if isinstance(one, logging.FileHandler)), None)
        if stream is None:
            print(line, file=sys.stderr)
            return
        print(line, file=stream, flush=True)
        text = re.sub(r"^\[\d+\] ", "", line)
        self._is_error = text.startswith("Error: ") or (self._is_error and not _BEGINS_A_RECORD.match(text))
        if self._is_error:
            print(line, file=sys.stderr)

    def refresh(self, crawl_id: int) -> None:
        """Show the progress of a crawl."""
        if self._display is None and self._is_wanted:
            with suppress(CrawlersError):
                self._display = LiveDisplay(self._settings.get("DATABASE_URL"), str(crawl_id))
        if self._display is not None:
            self._display.refresh()

    def fail(self, message: str) -> None:
        """Show why the command ends."""
        print(f"Error: {suggested(message)}", file=sys.stderr)
        if self._settings.get("LOG_FILE"):
            logger.error("%s", message)

    def close(self) -> None:
        """Give the terminal back."""
        if self._display is not None:
            self._display.close()
            self._display = None
