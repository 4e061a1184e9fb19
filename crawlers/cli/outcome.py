"""How commands of ours end: what went wrong is a sentence, and the exit status says so."""

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
    """Let the end of the block be that of *command*: an error of ours is told, and is exit status 2.

    Who reads what is printed may stop reading, as `head` does: that is no error.
    """
    try:
        yield
        sys.stdout.flush()
    except CrawlersError as error:
        print(f"Error: {error}", file=sys.stderr)
        command.exitcode = 2
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # else Python would try once more, and complain, when it ends
        os.close(nowhere)
