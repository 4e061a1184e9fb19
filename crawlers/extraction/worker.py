"""A process of `pool.ExtractionPool`: takes calls from its standard input, gives results on its standard output.

    python -m crawlers.extraction.worker BYTES      of address space that it may have

A byte says that it is ready. Calls are (function, arguments, named arguments), results (kind, value), pickled, behind
their length. It ends with its input, that is, with the process that reads its results.
"""

from __future__ import annotations

import os
import pickle
import resource
import struct
import sys
from typing import Any, BinaryIO

LENGTH = struct.Struct(">Q")
NICENESS = 5  # the reactor goes first
DONE, RAISED, MEMORY = "done", "raised", "memory"


def main(memory_bytes: int) -> None:
    """Serve until the input is at its end."""
    calls, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no result
    os.nice(NICENESS)
    from crawlers.extraction import news_reader  # noqa: F401 - so that no call need wait for what it imports

    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    results.write(b"+")
    results.flush()
    while (call := _next(calls)) is not None:
        result = pickle.dumps(_result(call))
        results.write(LENGTH.pack(len(result)) + result)
        results.flush()


def _next(calls: BinaryIO) -> bytes | None:
    head = calls.read(LENGTH.size)
    return calls.read(*LENGTH.unpack(head)) if len(head) == LENGTH.size else None


def _result(call: bytes) -> tuple[str, Any]:
    try:
        function, args, named = pickle.loads(call)  # noqa: S301 - from our own process
        return DONE, function(*args, **named)
    except MemoryError:
        return MEMORY, "out of memory"
    except Exception as error:
        return RAISED, error


if __name__ == "__main__":
    main(int(sys.argv[1]))
