"""Lets the mission and the parts of a running crawl make it go on, or end it early; and the clock of a crawl."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawlers.errors import (
    ClaimsLost,
    ConfigError,
    CrawlersError,
    FrontierError,
    MissionError,
    StoreError,
    StoreUnavailable,
)
from crawlers.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlers.crawl.run import Run


logger = logging.getLogger(__name__)

# Errors after which this worker ends without a further trace; the same command may join the crawl again.
PASSING = (ClaimsLost, StoreUnavailable)


class CrawlControl:
    """The control of a crawl. *stop* ends the program that runs it, for a reason; *wake* asks `Leasing.next`."""

    def __init__(self, stop: Callable[[str], None], wake: Callable[[], None]) -> None:
        self.failure: BaseException | None = None  # that ends the crawl early
        self.stop = stop
        self.resume = wake  # requests pages: what they waited for is ready

    def abort(self, error: CrawlersError, reason: str = Reason.STORE_FAILED) -> None:
        """Report *error*, and end the crawl for *reason*; everything stored is kept. Only the first error counts."""
        if self.failure is None:
            self.fail(error)
            self.stop(reason)

    def abort_for(self, what: str, error: Exception) -> None:
        """End the crawl as `abort` does, by an *error* that was not expected: that is better than losing a page.

        Any error but a `StoreError`, `ConfigError` or `MissionError` is reported as a bug that prevented *what*, with
        its traceback.
        """
        if isinstance(error, MissionError):
            self.abort(error, Reason.MISSION_FAILED)
        elif isinstance(error, StoreError | ConfigError):
            self.abort(error)
        else:
            logger.exception("Internal error")
            self.abort(FrontierError(f"{what}: {type(error).__name__} {error}; please report it"))

    def fail(self, error: BaseException) -> None:
        """Report *error* of a crawl that ends anyway, and so isn't asked to stop; only the first error counts."""
        if self.failure is None:
            self.failure = error
            level = logging.WARNING if isinstance(error, PASSING) else logging.ERROR
            logger.log(level, "%s", error)


@contextmanager
def naming(mission: Run, method: str) -> Iterator[None]:
    """Raise `MissionError` for what a *method* of a *mission* raises, unless the program raised it deliberately."""
    try:
        yield
    except CrawlersError:
        raise
    except Exception as error:
        logger.exception("The mission failed")
        where = f"{type(mission).__module__}.{type(mission).__qualname__}.{method}"
        raise MissionError(
            f"the mission failed in {where}: {type(error).__name__} {error}; correct it, or report it if it is not "
            "yours"
        ) from error


class ForwardClock:
    """Returns the time of its creation plus the time that has passed since."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def __call__(self) -> float:
        return self._offset + time.monotonic()
