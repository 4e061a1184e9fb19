"""How many small faults, put into the code at random, do the nearest tests find?

    python -m bench.quality.mutants [--seed 1] [--size 200] [--least 0.85]

The faults are those of mutmut: a number that is one more, `<` for `<=`, `or` for `and`, an argument left out, None in
place of what is assigned, and so on; what stands in annotations, docstrings and log lines is left alone (see
`tool.mutmut` in pyproject.toml). Each place in the code that can have a fault is as likely to be drawn as any other.
Every mutant is tested in a copy of the project, by the tests that `NEAREST` names, in their order and until one
fails. Those that survive are shown. The exit status is 1 when fewer than *least* of them die.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mutmut.mutation.file_mutation import create_mutations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from libcst import Module
    from mutmut.mutation.file_mutation import Mutation

ROOT = Path(__file__).resolve().parents[2]
# By package: where the tests of crawlers/{folder}/{name}.py are; without such a file, those of its folder are taken.
NEAREST = {
    "algorithms": ("tests/unit/{folder}/test_{name}.py",),
    "frontier": ("tests/unit/{folder}/test_{name}.py", "tests/unit/crawl/news/test_requeue.py", "tests/contracts"),
}
COPIED = ("bench", "crawlers", "tests", "pyproject.toml", "scrapy.cfg")
PYTEST = (
    *("-m", "pytest", "-q", "-x", "--tb=no", "-p", "no:cacheprovider"),
    *("--hypothesis-profile", "mutants"),  # see tests/conftest.py
    *("-k", "not postgresql"),  # SQLite is quicker, and enough
)
LIMIT, LIMIT_S = 5, 20  # a mutant has so many times what the tests take without it, and so many seconds more


class QueueSlot(NamedTuple):
    """A node in the code of a file, and what can stand there in its stead."""

    path: Path
    module: Module
    mutations: list[Mutation]

    def mutant(self, rng: random.Random) -> str:
        """The code of the file with one of them."""
        one = rng.choice(self.mutations)
        return self.module.deep_replace(one.original_node, one.mutated_node).code


class Project:
    """A copy of the project, in which one file at a time is a mutant."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(ROOT / name, folder / name)
        self._limit_s = cache(self._timed)

    def killer(self, place: QueueSlot, mutant: str) -> str:
        """Which tests found *mutant*; "" if none did."""
        tests = list(nearest(self._folder, place.path))
        limits = [self._limit_s(one) for one in tests]
        path = self._folder / place.path
        written_at = path.stat().st_mtime
        path.write_text(mutant)
        try:
            return next((one for one, limit_s in zip(tests, limits, strict=True) if not self._pass(one, limit_s)), "")
        finally:
            path.write_text(place.module.code)
            os.utime(path, (written_at, written_at))  # so that its bytecode is good again

    def _timed(self, tests: str) -> float:
        began = time.monotonic()
        if not self._pass(tests, 1800.0, writes_bytecode=True):
            raise SystemExit(f"The tests fail without any mutant; mend them first: python {shlex.join(PYTEST)} {tests}")
        return LIMIT * (time.monotonic() - began) + LIMIT_S

    def _pass(self, tests: str, limit_s: float, *, writes_bytecode: bool = False) -> bool:
        process = subprocess.Popen(
            [sys.executable, *PYTEST, tests],
            cwd=self._folder,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "" if writes_bytecode else "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(limit_s) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def nearest(root: Path, path: Path) -> Iterator[str]:
    """Yield the tests of the project in *root* that are nearest to its file at *path*."""
    _, package, *_ = path.parts
    for pattern in NEAREST[package]:
        tests = Path(pattern.format(folder=path.parent.relative_to("crawlers"), name=path.stem))
        while not (root / tests).exists():
            tests = tests.parent
        yield str(tests)


def places(path: Path) -> list[QueueSlot]:
    """Return the places in the file at *path* that can have a fault."""
    module, mutations, *_ = create_mutations(str(path), (ROOT / path).read_text())
    by_node: dict[int, list[Mutation]] = {}
    for one in mutations:
        by_node.setdefault(id(one.original_node), []).append(one)
    return [QueueSlot(path, module, its) for its in by_node.values()]


def changes(place: QueueSlot, mutant: str) -> str:
    """Return what *mutant* changes in its file."""
    lines = unified_diff(
        place.module.code.splitlines(), mutant.splitlines(), str(place.path), "mutant", lineterm="", n=2
    )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=200, help="mutants")
    parser.add_argument("--least", type=float, default=0.85, help="share of them that must die")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    files = sorted(path.relative_to(ROOT) for name in NEAREST for path in (ROOT / "crawlers" / name).rglob("*.py"))
    everywhere = [place for path in files for place in places(path)]
    print(f"{len(everywhere)} places in {len(files)} files, seed {options.seed}", flush=True)
    drawn, dead = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        for number, place in enumerate(rng.sample(everywhere, options.size), 1):
            mutant = place.mutant(rng)
            began = time.monotonic()
            killer = project.killer(place, mutant)
            drawn[place.path.parts[1]] += 1
            dead[place.path.parts[1]] += bool(killer)
            seconds = time.monotonic() - began
            print(f"{number:4} {seconds:6.1f} s  {place.path}  {killer or 'SURVIVED'}", flush=True)
            if not killer:
                print(changes(place, mutant), flush=True)
    for package, count in drawn.items():
        print(f"{package}: {dead[package]} of {count} die")
    share = dead.total() / drawn.total()
    print(f"{share:.1%} of {drawn.total()} die; {options.least:.0%} must")
    return int(share < options.least)


if __name__ == "__main__":
    sys.exit(main())
