"""Mutation testing by sample: how many small random faults in the code do the nearest tests detect?

    python -m bench.quality.mutants [--seed 1] [--size 200] [--least 0.85] [--jobs 2] [FILE ...]

The operators are those of mutmut: `<` becomes `<=`, `or` becomes `and`, a number grows by one, an argument is left
out, None is assigned, and so on. Annotations, docstrings and log calls are not mutated (see `tool.mutmut` in
pyproject.toml). Every place in the files (by default, those of `SAMPLED`) that has mutants is equally likely to be
drawn; one of its mutants is then chosen. Each mutant is tested in a copy of the project by the tests in `NEAREST`,
until one fails. Survivors are printed as diffs. The exit status is 1 if a smaller share than *least* is killed.

A test run is a fork of a process that has imported the libraries, but nothing of the project. Its CPU time is limited,
so that a busy machine kills no mutants; one that exceeds the limit, as in an endless loop, counts as killed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import shlex
import shutil
import signal
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from difflib import unified_diff
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from mutmut.mutation.file_mutation import create_mutations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from libcst import Module
    from mutmut.mutation.file_mutation import Mutation

ROOT = Path(__file__).resolve().parents[2]
# By package: the test runs for crawlers/{folder}/{name}.py, in order, each with its files. The module itself is one of
# them for the examples in its docstrings. A missing file stands for its folder.
_UNIT = ("crawlers/{folder}/{name}.py tests/unit/{folder}/test_{name}.py", "tests/unit/{folder}")
_WORKERS = "tests/unit/crawl/test_several_workers.py tests/unit/crawl/test_shared_sources.py"
NEAREST = {
    "bandits": _UNIT,
    "ranking": _UNIT,
    "urls": _UNIT,
    "frontier": (*_UNIT, "tests/unit/missions/news/urls/test_requeue.py tests/contracts"),
    "store": (_UNIT[0], "tests/unit/store/reading/test_crawls.py", _WORKERS),
    "crawl": (_UNIT[0], _WORKERS),
}
SAMPLED = ("bandits", "ranking", "urls", "frontier")
COPIED = ("bench", "crawlers", "examples", "tests", "pyproject.toml", "scrapy.cfg")
OPTIONS = (
    *("-q", "-x", "--tb=no", "-p", "no:cacheprovider", "--doctest-modules"),
    *("--hypothesis-profile", "mutants"),  # see tests/conftest.py
    *("-k", "not postgresql"),  # SQLite is faster, and the code under test is the same
    *("-W", "ignore:Module already imported"),  # by this process, of which each test run is a fork
)
LIBRARIES = ("hypothesis.strategies", "networkx", "numpy", "psycopg", "scipy.stats", "sqlalchemy.orm")
LIMIT, LIMIT_S = 3, 5  # a run may take this many times its CPU time without a mutant, and this many seconds more
PATIENCE = 20  # a run may take this many times its limit of CPU time by the clock: only a deadlock takes that long
KILLED, EXCEEDED, SURVIVED = "killed", "killed by the time limit", "SURVIVED"


class Mutant(NamedTuple):
    """A file of the project, and its code with one fault."""

    path: Path
    original: str
    code: str

    def diff(self) -> str:
        """Return what the fault changes in the file."""
        before, after = self.original.splitlines(), self.code.splitlines()
        return "\n".join(unified_diff(before, after, str(self.path), "mutant", lineterm="", n=2))


class Spot(NamedTuple):
    """A node in the code of a file, with its mutations."""

    path: Path
    module: Module
    mutations: list[Mutation]

    def mutant(self, rng: random.Random) -> Mutant:
        """Return the file with one of the mutations."""
        one = rng.choice(self.mutations)
        return Mutant(self.path, self.module.code, self.module.deep_replace(one.original_node, one.mutated_node).code)


def spots(path: Path) -> list[Spot]:
    """Return the nodes with mutations in the file at *path*."""
    module, mutations, *_ = create_mutations(str(path), (ROOT / path).read_text("utf-8"))
    by_node: dict[int, list[Mutation]] = {}
    for one in mutations:
        by_node.setdefault(id(one.original_node), []).append(one)
    return [Spot(path, module, its) for its in by_node.values()]


def nearest(path: Path) -> Iterator[str]:
    """Yield the test runs for the file at *path*, each with its test files."""
    for run in NEAREST[path.parts[1]]:
        files = map(Path, run.format(folder=path.parent.relative_to("crawlers"), name=path.stem).split())
        yield " ".join(str(next(one for one in (file, *file.parents) if (ROOT / one).exists())) for file in files)


def enter_copy(folder: str) -> None:
    """Copy the project to a new folder in *folder*, and make that the working directory."""
    copy = Path(tempfile.mkdtemp(dir=folder))
    for name in COPIED:
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy2)(ROOT / name, copy / name)
    os.chdir(copy)


def cpu_s(files: str) -> float:
    """Return the CPU time in seconds that the tests in *files* take without a mutant."""
    status, seconds = run_tests(files, 600, writes_bytecode=True)
    if status:
        raise SystemExit(f"Tests fail without a mutant; fix them first: pytest {shlex.join(OPTIONS)} {files}")
    return seconds


def result(mutant: Mutant, limits_s: dict[str, float]) -> str:
    """Run the nearest tests with *mutant*. *limits_s* maps each test run to the limit of its CPU time in seconds."""
    written_at = mutant.path.stat().st_mtime
    mutant.path.write_text(mutant.code, "utf-8")
    try:
        for files, limit_s in limits_s.items():
            status, _ = run_tests(files, int(limit_s))
            if status:
                return EXCEEDED if -status in (signal.SIGKILL, signal.SIGALRM) else KILLED
        return SURVIVED
    finally:
        mutant.path.write_text(mutant.original, "utf-8")
        os.utime(mutant.path, (written_at, written_at))  # so that its bytecode is valid again


def run_tests(files: str, limit_s: int, *, writes_bytecode: bool = False) -> tuple[int, float]:
    """Run the tests in *files* in a fork of this process; return the exit status and the CPU time in seconds."""
    pid = os.fork()
    if not pid:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s))
            signal.alarm(PATIENCE * limit_s)
            for stream in range(3):
                os.dup2(os.open(os.devnull, os.O_RDWR), stream)
            sys.dont_write_bytecode = not writes_bytecode  # a mutant's bytecode could be taken for that of the next
            sys.path = [path for path in sys.path if path != str(ROOT)]
            for name in [name for name in sys.modules if name.partition(".")[0] == "bench"]:
                del sys.modules[name]
            os._exit(pytest.main([*OPTIONS, "--basetemp", "basetemp", *files.split()]))
        finally:
            os._exit(pytest.ExitCode.INTERNAL_ERROR)
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    sampled = " and ".join(SAMPLED)
    parser.add_argument("files", type=Path, nargs="*", help=f"crawlers/PACKAGE/...py (default: all of {sampled})")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=200, help="number of mutants")
    parser.add_argument("--least", type=float, default=0.85, help="share of mutants that must be killed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of test runs at a time")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    files = options.files or sorted(
        path.relative_to(ROOT) for name in SAMPLED for path in (ROOT / "crawlers" / name).rglob("*.py")
    )
    everywhere = [spot for path in files for spot in spots(path)]
    print(f"{len(everywhere)} nodes in {len(files)} files, seed {options.seed}", flush=True)
    mutants = [spot.mutant(rng) for spot in rng.sample(everywhere, options.size)]
    del everywhere  # forks would copy its pages
    for name in LIBRARIES:
        import_module(name)
    drawn, results = Counter[str](), Counter[tuple[str, str]]()
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(options.jobs, multiprocessing.get_context("fork"), enter_copy, (folder,)) as pool,
    ):
        runs = list(dict.fromkeys(run for mutant in mutants for run in nearest(mutant.path)))
        limits_s = {run: LIMIT * one + LIMIT_S for run, one in zip(runs, pool.map(cpu_s, runs), strict=True)}
        print(f"{len(runs)} test runs pass without a mutant", flush=True)
        limits = [{run: limits_s[run] for run in nearest(mutant.path)} for mutant in mutants]
        for number, (mutant, outcome) in enumerate(zip(mutants, pool.map(result, mutants, limits), strict=True), 1):
            print(f"{number:4} {mutant.path}  {outcome}", flush=True)
            if outcome == SURVIVED:
                print(mutant.diff(), flush=True)
            drawn[mutant.path.parts[1]] += 1
            results[mutant.path.parts[1], outcome] += 1
    for package, count in sorted(drawn.items()):
        killed, exceeded = results[package, KILLED], results[package, EXCEEDED]
        print(f"{package}: {killed + exceeded} of {count} killed, {exceeded} of these by the time limit")
    share = 1 - sum(count for (_, outcome), count in results.items() if outcome == SURVIVED) / drawn.total()
    print(f"{share:.1%} of {drawn.total()} mutants killed, required: {options.least:.0%}")
    return int(share < options.least)


if __name__ == "__main__":
    sys.exit(main())
