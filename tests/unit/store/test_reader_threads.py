"""Queries run in other threads, at the same time, and return their results or exceptions."""

import asyncio
import threading
from contextlib import closing

import pytest

from crawlers.store.reader_threads import ReaderThreads

PATIENCE_S = 30


def test_query_runs_in_another_thread_and_returns_its_result():
    with closing(ReaderThreads(2)) as reader:
        assert asyncio.run(reader.run(threading.get_ident)) != threading.get_ident()


def test_close_waits_for_running_queries_and_cancels_the_others():
    reader = ReaderThreads(1)
    started, released, ran = threading.Event(), threading.Event(), []

    def slow():
        started.set()
        return released.wait(PATIENCE_S)

    async def run():
        running = asyncio.ensure_future(reader.run(slow))
        queued = asyncio.ensure_future(reader.run(lambda: ran.append("queued")))
        await asyncio.sleep(0)  # both are submitted
        assert started.wait(PATIENCE_S)
        end = threading.Thread(target=reader.close)
        end.start()
        with pytest.raises(asyncio.CancelledError):
            await queued
        assert end.is_alive()
        released.set()
        assert await running
        end.join(PATIENCE_S)
        assert not end.is_alive()

    asyncio.run(run())
    assert ran == []
