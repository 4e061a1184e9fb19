"""How much memory something takes."""

import tracemalloc


def peak_bytes(function, *arguments):
    """Return the most memory that a call of *function* takes at a time."""
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
