"""Real worker processes, which run functions of the standard library, since every worker can import them."""

import asyncio
import math
import os
import pickle
import select
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from crawlers.pages import pool as pool_module
from crawlers.pages.pool import REPEATS, ExtractionPool

CRAWLER = """
import asyncio, os
from crawlers.pages.pool import REPEATS, ExtractionPool

async def main():
    pool = ExtractionPool(1, 60.0)
    print(await pool.run("site", os.getpid), flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def dying_once(mark, then=":"):
    """Return a command that kills the worker that runs it, unless the file *mark* exists."""
    return f"[ -e {mark} ] || {{ touch {mark}; kill -9 $PPID; exit; }}; {then}"


def run(scenario, processes=1, timeout_s=30.0, **options):
    async def main():
        pool = ExtractionPool(processes, timeout_s, **options)
        try:
            return await scenario(pool)
        finally:
            await pool.close()

    return asyncio.run(main())


def results(*calls, **options):
    """Return the results of *calls* for one site, one after the other."""

    async def scenario(pool):
        return [await pool.run("site", *call) for call in calls]

    return run(scenario, **options)


def test_module_in_the_folder_of_the_crawl_hides_none_of_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))  # as `python -m crawlers` does
    (tmp_path / "pickle.py").write_text("raise SystemExit(1)", "utf-8")
    (folder,) = results((os.getcwd,))
    assert Path(folder).samefile(sys.prefix)


class LoopWorkers:
    """Workers that run calls by their names, in turns of the loop; calls that begin with *dying* die *deaths* times."""

    def __init__(self, deaths):
        self.attempts = Counter()
        self.running = []  # names, and the numbers of their attempts
        self.together = []  # the calls that run when one begins, which is the last one
        self._deaths = deaths

    def __call__(self, memory_bytes, modules):
        return self

    async def run(self, call, timeout_s):
        name = pickle.loads(call)[1][0]  # noqa: S301 - of this test
        self.attempts[name] += 1
        attempt = (name, self.attempts[name])
        self.running.append(attempt)
        self.together.append(list(self.running))
        for _ in range(9 if name.startswith("dying") else 2):
            await asyncio.sleep(0)
        self.running.remove(attempt)
        if name.startswith("dying") and attempt[1] <= self._deaths:
            raise pool_module._Died
        return name

    async def close(self):
        pass


@pytest.mark.parametrize("processes", [1, 2, 3])
@pytest.mark.parametrize(("deaths", "reason"), [(1, ""), (REPEATS, ""), (REPEATS + 1, "killed_its_process")])
def test_calls_whose_workers_died_are_repeated_one_at_a_time_while_the_others_go_on(
    monkeypatch, processes, deaths, reason
):
    workers = LoopWorkers(deaths)
    monkeypatch.setattr(pool_module, "_Worker", workers)
    suspects = [f"dying {n}" for n in range(3)]

    async def pages(pool, site):
        return [await pool.run(site, str, f"{site} {n}") for n in range(40)]

    async def scenario(pool):
        return await asyncio.gather(
            *(pool.run(name, str, name) for name in suspects), *(pages(pool, site) for site in "abc")
        )

    results = run(scenario, processes=processes)
    assert results == [reason or name for name in suspects] + [[f"{site} {n}" for n in range(40)] for site in "abc"]
    assert [workers.attempts.pop(name) for name in suspects] == [1 + min(deaths, REPEATS)] * 3
    assert set(workers.attempts.values()) == {1}
    assert max(sum(attempt > 1 for _, attempt in running) for running in workers.together) == 1
    began = [running[-1][0] for running in workers.together]
    repeats = [number for number, running in enumerate(workers.together) if running[-1][1] > 1]
    assert all(set(began[one:other]) - set(suspects) for one, other in pairwise(repeats))  # others between them


def test_site_whose_page_kills_its_process_alone_too_is_not_repeated_until_a_page_is_read(tmp_path):
    died = tmp_path / "died"

    async def scenario(pool):
        results = [await pool.run("site", os._exit, 11)]
        results.append(await pool.run("site", os.system, dying_once(died)))  # not repeated
        results.append(await pool.run("site", math.sqrt, 9.0))
        died.unlink()
        return [*results, await pool.run("site", os.system, dying_once(died))]

    assert run(scenario) == ["killed_its_process", "killed_its_process", 3.0, 0]


def test_worker_that_dies_while_idle_costs_no_attempt(tmp_path):
    async def scenario(pool):
        os.kill(await pool.run("site", os.getpid), signal.SIGKILL)
        await asyncio.sleep(0)
        return await pool.run("site", math.sqrt, 9.0)

    assert run(scenario) == 3.0


def test_lack_of_memory_yields_a_reason_and_the_pool_continues():
    assert results((bytearray, 2**30), (math.sqrt, 9.0), memory_bytes=2**30) == ["no_memory", 3.0]


def test_exception_of_a_function_is_raised_with_its_traceback():
    with pytest.raises(statistics.StatisticsError, match="at least one data point") as raised:
        results((statistics.mean, []))
    assert "in mean" in raised.value.__notes__[0]


def test_workers_are_replaced_after_a_number_of_tasks(monkeypatch):
    monkeypatch.setattr(pool_module, "TASKS_PER_WORKER", 2)
    first, second, third, fourth = results(*[(os.getpid,)] * 4)
    assert first == second != third == fourth


def test_workers_end_when_the_crawler_is_killed(tmp_path):
    script = tmp_path / "crawler.py"
    script.write_text(CRAWLER)
    crawler = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(Path.cwd())}
    )
    with crawler:
        worker = os.pidfd_open(int(crawler.stdout.readline()))
        crawler.send_signal(signal.SIGKILL)
    try:
        assert select.select([worker], [], [], 10)[0] == [worker]  # readable: it has ended
    finally:
        os.close(worker)


def test_result_of_a_cancelled_call_is_discarded():
    async def scenario(pool):
        task = asyncio.ensure_future(pool.run("site", time.sleep, 0.5))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return await pool.run("site", math.sqrt, 9.0)

    assert run(scenario) == 3.0


def test_timeout_of_a_slow_site_shrinks_until_a_page_is_read():
    slow = (time.sleep, 60)
    found = results(slow, slow, (math.sqrt, 9.0), slow, timeout_s=0.8)
    assert found == ["took_too_long 0.8", "took_too_long 0.2", 3.0, "took_too_long 0.8"]


@pytest.mark.parametrize("turns", [0, 3, 30])  # of the loop: the workers have not started, are starting, or are busy
@pytest.mark.parametrize("is_warm", [False, True])
def test_closed_pool_starts_no_process_and_its_calls_end_as_killed(monkeypatch, is_warm, turns):
    started = []
    start = asyncio.create_subprocess_exec

    async def noted(*args, **options):
        started.append(await start(*args, **options))
        return started[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)

    async def scenario(pool):
        if is_warm:
            await asyncio.gather(*(pool.run(site, math.sqrt, 9.0) for site in "ab"))
        calls = [asyncio.ensure_future(pool.run(f"site {n}", time.sleep, 60)) for n in range(5)]
        for _ in range(turns):
            await asyncio.sleep(0)
        await pool.close()
        ended = [process.returncode is not None for process in started]
        results = [*await asyncio.gather(*calls), await pool.run("another", math.sqrt, 9.0)]
        assert ended == [True] * len(started)  # no further one was started
        return results

    assert run(scenario, processes=2) == ["killed_its_process"] * 6
    assert len(started) <= 2


def test_no_site_gets_all_workers():
    async def scenario(pool):
        slow = [asyncio.ensure_future(pool.run("slow", time.sleep, 60)) for _ in range(5)]
        try:
            return await pool.run("fast", math.sqrt, 9.0)
        finally:
            for task in slow:
                task.cancel()
            await asyncio.gather(*slow, return_exceptions=True)

    assert run(scenario, processes=2) == 3.0
