"""Runs a crawl with several workers on this machine: the processes, the signals, and what people see of them."""

from __future__ import annotations

import logging
import signal
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.cli.child_process import ChildProcess, Events, Signal
from crawlers.cli.store_watch import StoreWatch
from crawlers.cli.worker_processes import SUSPEND, WorkerProcesses
from crawlers.cli.workers_display import WorkersDisplay
from crawlers.errors import ConfigError
from crawlers.extensions.progress import INTERVAL_S
from crawlers.extensions.summary import show_summary
from crawlers.inputs.worker_place import CRAWL, WorkerPlace
from crawlers.pages.pool import environment
from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from types import FrameType

    from scrapy import Spider
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

# Behind the arguments of the command, so that they take precedence. This process writes all logs.
OF_WORKERS = (
    "-s",
    "WORKERS=1",
    "-s",
    "PROGRESS_ENABLED=0",
    "-s",
    "LOG_FILE=",
    "--logfile=",
    "--pidfile=",
)
ONCE = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")  # the beginnings of names that mean something else in each process
CLOSING_S = 10.0  # to show the end of the crawl; if the store does not respond, the terminal is given back at the exit


def check_workers(settings: BaseSettings, spider: type[Spider], options: argparse.Namespace) -> None:
    """Raise `ConfigError` if a crawl of *spider* can't have several workers on one machine."""
    number = settings.getint("WORKERS")
    if not issubclass(spider, SiteSpider) or not spider.can_be_shared:
        raise ConfigError(
            f"WORKERS={number}: {spider.name} is a spider of your own, which runs in one process; leave out WORKERS"
        )
    if any(str(uri).startswith("stdout:") for uri in settings.getdict("FEEDS")):
        raise ConfigError(f"WORKERS={number}: workers can't share standard output; write items to a file: -o pages.csv")
    if options.profile:
        raise ConfigError(f"WORKERS={number}: --profile measures one process; leave out WORKERS, or write 1")
    for name, value in options.spargs.items():
        if value.startswith(ONCE):
            raise ConfigError(f"WORKERS={number}: {name}={value} can be read by one process only; write it to a file")


def run_workers(settings: BaseSettings) -> int:
    """Run a crawl with WORKERS processes of this command; return the exit status."""
    number = settings.getint("WORKERS")
    events, display = Events(), WorkersDisplay(settings)
    with tempfile.TemporaryDirectory(prefix="crawlers-") as folder, _signals(events):
        summary = Path(folder) / "summary.txt"

        def start(place: int, crawl_id: int | None) -> ChildProcess:
            variables = environment() | WorkerPlace(place, number, summary).environment()
            if crawl_id is not None:
                variables[CRAWL] = str(crawl_id)
            return ChildProcess(place, [sys.executable, *sys.orig_argv[1:], *OF_WORKERS], variables, events)

        watch = StoreWatch(settings.get("DATABASE_URL"), display, events)
        workers = WorkerProcesses(number, start, watch, display, events, INTERVAL_S)
        try:
            status = workers.run()
        finally:
            watch.close(0.0 if workers.is_forced else CLOSING_S)
        if summary.exists():
            show_summary(summary.read_text("utf-8").splitlines(), settings)
    return status


@contextmanager
def _signals(events: Events) -> Iterator[None]:
    """Put the signals to this process into *events* during the block."""

    def put(number: int, _: FrameType | None) -> None:
        events.put(Signal(number))

    numbers = [signal.SIGINT, signal.SIGTERM]
    if sys.platform == "win32":
        numbers.append(signal.SIGBREAK)
    elif sys.stderr.isatty():
        numbers.append(signal.Signals(SUSPEND))
    before = {number: signal.signal(number, put) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
