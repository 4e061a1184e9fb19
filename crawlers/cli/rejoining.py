"""Lets a process begin its command again after it lost its claims or the store: it joins its crawl as a new worker.

No state is carried over, so that none can be wrong.
"""

from __future__ import annotations

import logging
import os
import random
import signal
import sys
import time
from typing import TYPE_CHECKING, NoReturn

from crawlers.errors import ConfigError
from crawlers.inputs.worker_place import CRAWL
from crawlers.pages.pool import environment
from crawlers.store.database import Database

if TYPE_CHECKING:
    from threading import Event

logger = logging.getLogger(__name__)

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 5.0  # between two attempts, and at most twice as long: workers come one by one


def wait_for_store(url: str, limit_s: float, stopped: Event) -> None:
    """Wait until the store *url* can be opened, at most some *limit_s* seconds, or until *stopped* is set.

    Raises `ConfigError` if it can't be opened.
    """
    ends_at, pause_s = time.monotonic() + limit_s, FIRST_WAIT_S
    while True:
        try:
            Database(url, create=False).close()
            return
        except ConfigError:
            if time.monotonic() >= ends_at or stopped.wait(random.uniform(pause_s, 2 * pause_s)):  # noqa: S311
                raise
        pause_s = min(2 * pause_s, LONGEST_WAIT_S)


def begin_again(crawl_id: int | None) -> NoReturn:
    """Replace this process by one of the same command, which joins the crawl *crawl_id*; with None, any crawl."""
    if crawl_id is not None:
        os.environ[CRAWL] = str(crawl_id)
    sys.stdout.flush()
    sys.stderr.flush()
    logging.shutdown()
    command = [sys.executable, *sys.orig_argv[1:]]
    os.execve(sys.executable, command, environment())  # noqa: S606 - the same command, without a shell


def let_signals_end_the_process() -> None:
    """Restore what Ctrl-C and signals do: Scrapy's handlers stop a reactor that no longer runs."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
