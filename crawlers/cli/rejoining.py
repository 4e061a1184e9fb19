"""Lets a process begin its command again after it lost its claims or the store: it joins its crawl as a new worker.

No state is carried over, so that none can be wrong.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

from tenacity import (
    Retrying,
    retry_if_exception_type,
    sleep_using_event,
    stop_after_delay,
    stop_when_event_set,
    wait_exponential_jitter,
)

from crawlers.errors import ConfigError
from crawlers.inputs.worker_place import CRAWL
from crawlers.pages.pool import environment
from crawlers.store.database import Database

if TYPE_CHECKING:
    from threading import Event

logger = logging.getLogger(__name__)

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 10.0  # between two attempts; with a random part, so that workers come one by one


def wait_for_store(url: str, limit_s: float, stopped: Event) -> None:
    """Wait until the store *url* can be opened, at most some *limit_s* seconds, or until *stopped* is set.

    Raises `ConfigError` if it can't be opened.
    """
    attempts = Retrying(
        retry=retry_if_exception_type(ConfigError),
        stop=stop_after_delay(limit_s) | stop_when_event_set(stopped),
        wait=wait_exponential_jitter(multiplier=FIRST_WAIT_S, max=LONGEST_WAIT_S),
        reraise=True,
        sleep=sleep_using_event(stopped),
    )
    attempts(lambda: Database(url, create=False).close())


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
