"""Reports the errors of project commands as a message and an exit status."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawlers.errors import CrawlersError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.commands import ScrapyCommand


@contextmanager
def reporting_errors(command: ScrapyCommand) -> Iterator[None]:
    """Print a `CrawlersError` that the block raises, and set the exit status of *command* to 2.

    A closed standard output, as with `head`, is not an error.
    """
    try:
        yield
        sys.stdout.flush()
    except CrawlersError as error:
        print(f"Error: {error}", file=sys.stderr)
        command.exitcode = 2
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # otherwise Python flushes again at exit, and reports an error
        os.close(nowhere)
