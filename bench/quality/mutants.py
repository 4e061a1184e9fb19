"""Mutation testing by sample: how many small random faults in the code do the nearest tests detect?

    python -m bench.quality.mutants [--seed 1] [--size 200] [--least 0.85]

The operators are those of mutmut: `<` becomes `<=`, `or` becomes `and`, a number grows by one, an argument is left
out, None is assigned, and so on. Annotations, docstrings and log calls are not mutated (see `tool.mutmut` in
pyproject.toml). Every place in the code that has mutants is equally likely to be drawn; one of its mutants is then
chosen. Each mutant is tested in a copy of the project by the tests in `NEAREST`, until one fails. Survivors are
printed as diffs. The exit status is 1 if a smaller share than *least* is killed.
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
# By package: the test runs for crawlers/{folder}/{name}.py, in order, each with its files. The module itself is one of
# them for the examples in its docstrings. A missing file stands for its folder.
_UNIT = "crawlers/{folder}/{name}.py tests/unit/{folder}/test_{name}.py"
NEAREST = {
    "algorithms": (_UNIT,),
    "frontier": (f"{_UNIT} tests/unit/crawl/news/test_requeue.py", "tests/contracts"),
}
COPIED = ("bench", "crawlers", "tests", "pyproject.toml", "scrapy.cfg")
PYTEST = (
    *("-m", "pytest", "-q", "-x", "--tb=no", "-p", "no:cacheprovider", "--doctest-modules"),
    *("--hypothesis-profile", "mutants"),  # see tests/conftest.py
    *("-k", "not postgresql"),  # SQLite is faster, and the code under test is the same
)
LIMIT, LIMIT_S = 3, 20  # a run may take this many times its time without a mutant, and this many seconds more


class Spot(NamedTuple):
    """A node in the code of a file, with its mutations."""

    path: Path
    module: Module
    mutations: list[Mutation]

    def mutant(self, rng: random.Random) -> str:
        """Return the code of the file with one of the mutations."""
        one = rng.choice(self.mutations)
        return self.module.deep_replace(one.original_node, one.mutated_node).code


class Project:
    """A copy of the project in *folder*, where one file at a time is mutated."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(ROOT / name, folder / name)
        self._limit_s = cache(self._timed)

    def kills(self, spot: Spot, mutant: str) -> bool:
        """Return whether a test fails with *mutant* in place of the file of *spot*."""
        runs = [(files, self._limit_s(files)) for files in nearest(self._folder, spot.path)]
        path = self._folder / spot.path
        written_at = path.stat().st_mtime
        path.write_text(mutant, "utf-8")
        try:
            return not all(self._passes(files, limit_s) for files, limit_s in runs)
        finally:
            path.write_text(spot.module.code, "utf-8")
            os.utime(path, (written_at, written_at))  # so that its bytecode is valid again

    def _timed(self, files: str) -> float:
        began = time.monotonic()
        if not self._passes(files, 1800.0, writes_bytecode=True):
            raise SystemExit(f"Tests fail without a mutant; fix them first: python {shlex.join(PYTEST)} {files}")
        return LIMIT * (time.monotonic() - began) + LIMIT_S

    def _passes(self, files: str, limit_s: float, *, writes_bytecode: bool = False) -> bool:
        process = subprocess.Popen(
            [sys.executable, *PYTEST, *files.split()],
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
    """Yield the test runs for the file at *path* of the project in *root*."""
    for run in NEAREST[path.parts[1]]:
        files = map(Path, run.format(folder=path.parent.relative_to("crawlers"), name=path.stem).split())
        yield " ".join(str(next(one for one in (file, *file.parents) if (root / one).exists())) for file in files)


def spots(path: Path) -> list[Spot]:
    """Return the nodes with mutations in the file at *path*."""
    module, mutations, *_ = create_mutations(str(path), (ROOT / path).read_text("utf-8"))
    by_node: dict[int, list[Mutation]] = {}
    for one in mutations:
        by_node.setdefault(id(one.original_node), []).append(one)
    return [Spot(path, module, its) for its in by_node.values()]


def diff(spot: Spot, mutant: str) -> str:
    """Return what *mutant* changes in the file of *spot*."""
    lines = unified_diff(spot.module.code.splitlines(), mutant.splitlines(), str(spot.path), "mutant", lineterm="", n=2)
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=200, help="number of mutants")
    parser.add_argument("--least", type=float, default=0.85, help="share of mutants that must be killed")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    files = sorted(path.relative_to(ROOT) for name in NEAREST for path in (ROOT / "crawlers" / name).rglob("*.py"))
    everywhere = [spot for path in files for spot in spots(path)]
    print(f"{len(everywhere)} nodes in {len(files)} files, seed {options.seed}", flush=True)
    drawn, killed = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        for number, spot in enumerate(rng.sample(everywhere, options.size), 1):
            mutant = spot.mutant(rng)
            began = time.monotonic()
            is_killed = project.kills(spot, mutant)
            drawn[spot.path.parts[1]] += 1
            killed[spot.path.parts[1]] += is_killed
            result = "killed" if is_killed else "SURVIVED"
            print(f"{number:4} {time.monotonic() - began:6.1f} s  {spot.path}  {result}", flush=True)
            if not is_killed:
                print(diff(spot, mutant), flush=True)
    for package, count in sorted(drawn.items()):
        print(f"{package}: {killed[package]} of {count} killed")
    share = killed.total() / drawn.total()
    print(f"{share:.1%} of {drawn.total()} mutants killed, required: {options.least:.0%}")
    return int(share < options.least)


if __name__ == "__main__":
    sys.exit(main())
