"""The resources and requests of a crawl that runs as another process, minute by minute."""

from __future__ import annotations

import os
import re
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.news.live_papers import ARTICLE, FEED, HOME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.news.live_papers import Asked
    from bench.speed.stalls import Stall

SAMPLE_S = 5.0
_STORE = re.compile(r"\bstorage\.|\bsql\.")
TICKS = os.sysconf("SC_CLK_TCK")
PAGE_MIB = os.sysconf("SC_PAGE_SIZE") / 2**20
HEADER = (
    "minutes | requests/s | feeds/s | homes/s | articles/s | polls with 304 % | main thread % | crawler % | workers % |"
    " MiB | workers MiB | load | stalls | longest s | of it computing"
)


class Sample(NamedTuple):
    """What the crawl had used at a moment: CPU seconds, and MiB of memory."""

    at: float
    main_thread_s: float
    crawler_s: float
    workers_s: float
    crawler_mib: float
    workers_mib: float
    load: float


class Sampler(threading.Thread):
    """Looks at the process *pid* and its children until it is gone."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self.samples: list[Sample] = []
        self.done = threading.Event()

    def run(self) -> None:
        gone_s = 0.0  # CPU of workers that were replaced
        before: dict[str, float] = {}
        while not self.done.wait(SAMPLE_S):
            try:
                thread_s, _ = _used(Path(f"/proc/{self._pid}/task/{self._pid}"))
                crawler_s, crawler_mib = _used(Path(f"/proc/{self._pid}"))
                listed = Path(f"/proc/{self._pid}/task/{self._pid}/children").read_text("ascii").split()
                workers = {child: _used(Path(f"/proc/{child}")) for child in listed}
            except OSError:
                continue  # one ended meanwhile
            used = {child: seconds for child, (seconds, _) in workers.items()}
            gone_s += sum(seconds for child, seconds in before.items() if child not in used)
            before = used
            mib = sum(mib for _, mib in workers.values())
            workers_s = gone_s + sum(used.values())
            self.samples.append(
                Sample(time.time(), thread_s, crawler_s, workers_s, crawler_mib, mib, os.getloadavg()[0])
            )


def _used(place: Path) -> tuple[float, float]:
    """CPU seconds and resident MiB of a process or thread."""
    fields = (place / "stat").read_text("ascii", "replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS, int(fields[21]) * PAGE_MIB


def print_start(began: float, asked: Sequence[Asked], feeds: int) -> None:
    """Print the time to read the sources, and to request everything once."""
    first: dict[tuple[int, str], float] = {}
    for one in asked:
        first.setdefault((one.paper, one.kind), one.at)
    print(f"first request after {asked[0].at - began:.1f} s")
    for kind in (FEED, HOME):
        times = sorted(at for (_, of), at in first.items() if of == kind)
        at = f"the last after {times[-1] - began:.0f} s" if times else ""
        print(f"{kind}s requested at least once: {len(times):,} of {feeds:,}, {at}")


def _cells(
    since: float, until: float, asked: Sequence[Asked], samples: Sequence[Sample], stalls: Sequence[Stall]
) -> list[str]:
    """What happened between two moments, see `HEADER`."""
    part = [one for one in asked if since <= one.at < until]
    kinds = Counter(one.kind for one in part)
    seconds = until - since
    cells = [f"{len(part) / seconds:.1f}", *(f"{kinds[kind] / seconds:.1f}" for kind in (FEED, HOME, ARTICLE))]
    cells.append(f"{100 * sum(one.status == 304 for one in part) / max(1, kinds[FEED] + kinds[HOME]):.0f}")
    used = [one for one in samples if since - SAMPLE_S <= one.at < until]
    if len(used) > 1:
        first, last = used[0], used[-1]
        for name in ("main_thread_s", "crawler_s", "workers_s"):
            cells.append(f"{100 * (getattr(last, name) - getattr(first, name)) / (last.at - first.at):.0f}")
        load = sum(one.load for one in used) / len(used)
        cells += [f"{last.crawler_mib:.0f}", f"{last.workers_mib:.0f}", f"{load:.1f}"]
    else:
        cells += ["-"] * 6
    held = [one for one in stalls if since <= one.at < until]
    worst = max(held, key=lambda one: one.took, default=None)
    return [*cells, str(len(held)), *((f"{worst.took:.2f}", f"{worst.computing:.2f}") if worst else ("-", "-"))]


def print_load(
    began: float,
    minutes: float,
    settle: float,
    asked: Sequence[Asked],
    samples: Sequence[Sample],
    stalls: Sequence[Stall],
) -> None:
    """A row for each minute of a crawl, and one for what comes after the first *settle* minutes."""
    print(f"| {HEADER} |\n|{'--:|' * len(HEADER.split('|'))}")
    spans: list[tuple[float, float]] = [(minute, minute + 1) for minute in range(int(minutes))]
    for first, last in [*spans, (settle, minutes)]:
        cells = _cells(began + 60 * first, began + 60 * last, asked, samples, stalls)
        print(f"| {first:g} to {last:g} | " + " | ".join(cells) + " |")
    print(f"stalls: {len(stalls)}, {sum(one.took for one in stalls):.1f} s in all; where the thread was:")
    held = [one for one in stalls if _STORE.search(one.where)]
    longest = max((one.took for one in held), default=0.0)
    print(f"  {sum(one.took for one in held):.1f} s in {len(held)}, at most {longest:.2f} s: in the store")
    seconds: dict[str, float] = {}
    for one in stalls:
        seconds[one.where] = seconds.get(one.where, 0.0) + one.took
    for where, took in sorted(seconds.items(), key=lambda item: -item[1])[:8]:
        part = [one for one in stalls if one.where == where]
        print(f"  {took:.1f} s in {len(part)}, computing {sum(one.computing for one in part):.1f} s: {where}")
