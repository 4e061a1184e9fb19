"""A process of `pool.ExtractionPool`: reads calls from standard input, writes results to standard output.

        python -m crawlers.pages.pool_worker BYTES MODULE …     limit of its address space, and what it imports

It writes one byte when it is ready. Calls are (function, arguments, named arguments), results (kind, value), pickled
and preceded by their length. It ends when its input is closed, that is, when the process that reads its results ends.
"""

from __future__ import annotations

import os
import pickle
import resource
import struct
import sys
import traceback
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO

from crawlers.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

LENGTH = struct.Struct(">Q")
NICENESS = 5  # the reactor has priority
DONE, RAISED, MEMORY = "done", "raised", "memory"


def main(memory_bytes: int, modules: Sequence[str]) -> None:
    """Serve calls until the input is closed."""
    calls, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output printed by libraries is not a result
    os.nice(NICENESS)
    for name in modules:  # so that no call has to wait for it
        import_module(name)
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
        return MEMORY, Reason.NO_MEMORY
    except Exception as error:
        error.add_note(traceback.format_exc())  # which is not pickled
        return RAISED, error


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
