"""Reports the errors of project commands as a message and an exit status."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawlers.errors import CrawlersError, UnreachedError
from crawlers.inputs.program import suggested
from crawlers.inputs.text_file import shortened_list
from crawlers.reasons import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.commands import ScrapyCommand

    from crawlers.storage.database import Database


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
    from crawlers.storage.crawl_results import STOPPED_BY_USER, crawl_end, has_pages, unavailable_sites

    with database.read() as connection:
        missing = [f"{site}: {sentence(why)}" for site, why in unavailable_sites(connection, crawl_id)]
        is_empty = not has_pages(connection, crawl_id)
        stopped = crawl_end(connection, crawl_id).reason in STOPPED_BY_USER
    reasons = f" ({'; '.join(shortened_list(missing))})" if missing else ""
    if is_empty and not stopped:
        raise UnreachedError(f"no page could be read{reasons}; check the addresses, then run the same command again")
    if needs_all and missing:
        raise UnreachedError(f"FAIL_ON_UNAVAILABLE: sites are not available{reasons}; everything else is stored")
