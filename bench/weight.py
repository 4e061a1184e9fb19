"""`python -m bench.weight [--tests | --packages]`: what the program weighs, in one table.

Lines of code are lines as the formatter leaves them, without docstrings, comments and blank lines. A protocol is
implemented by each class of `crawlers` that defines all of its methods. Two crawls of site graphs, of 200 and of 1,000
pages of a server of our own, say what such a crawl imports, and what one page more calls. `--tests` runs the suite as
well, and says how long it takes. `--packages` says instead what each package of requirements.in weighs: CPU seconds of
its import with all that it imports, megabytes of its own files, and the modules of ours that import it.
"""

from __future__ import annotations

import ast
import importlib
import io
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
import tokenize
from collections import Counter
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from typing import NamedTuple

from bench.speed.website import PAGES, serve

ROOT = Path(__file__).resolve().parents[1]
FEW = 200  # pages
_SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef)
_GENERATED = re.compile(r"^<!-- generated .*?<!-- end -->", re.M | re.S)
_CRAWL = """
import json, os, sys, threading
from collections import Counter
ours, calls = sys.argv.pop(1) + os.sep, Counter()
def count(frame, event, _):
    if event == "call" and frame.f_code.co_filename.startswith(ours):
        calls[frame.f_code] += 1
threading.setprofile(count)
sys.setprofile(count)
from scrapy.cmdline import execute
try:
    execute()
finally:
    sys.setprofile(None)
    files = [module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == "crawlers"]
    by_module = Counter()
    for code, number in calls.items():
        by_module[code.co_filename] += number
    print(json.dumps({"files": files, "calls": by_module}), file=sys.__stdout__)
"""


class Lines(NamedTuple):
    """Lines of code, and lines of docstrings."""

    code: int
    docstrings: int


def lines_of(text: str) -> Lines:
    """Return what a module has.

    >>> lines_of('\"\"\"What it is for.\"\"\"\\n\\nx = 1  # why\\n')
    Lines(code=1, docstrings=1)
    """
    filled: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            filled.update(range(token.start[0], token.end[0] + 1))
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, (ast.Module, ast.ClassDef, *_DEFINITION))
            and ast.get_docstring(node, clean=False) is not None
        ):
            docstrings.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return Lines(len(filled - docstrings), len(docstrings))


def weigh(folder: str) -> tuple[int, Lines]:
    """Return the number of modules below *folder*, and their lines."""
    found = [lines_of(path.read_text("utf-8")) for path in (ROOT / folder).rglob("*.py")]
    return len(found), Lines(sum(one.code for one in found), sum(one.docstrings for one in found))


def classes() -> dict[str, tuple[bool, frozenset[str], frozenset[str]]]:
    """Return the classes of the program: whether they are protocols, their bases and their methods."""
    found = {}
    for path in (ROOT / "crawlers").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases = frozenset(ast.unparse(base).partition("[")[0] for base in node.bases)
                methods = frozenset(one.name for one in node.body if isinstance(one, _DEFINITION))
                found[f"{path}:{node.name}"] = ("Protocol" in bases, bases, methods)
    return found


def lone_protocols() -> int:
    """Return the number of protocols that at most one class implements."""
    known = classes()
    by_name = {name.rpartition(":")[2]: methods for name, (_, _, methods) in known.items()}
    alone = 0
    for is_protocol, _, wanted in known.values():
        if is_protocol and wanted - {"__call__"}:
            able = 0
            for is_other, bases, methods in known.values():
                inherited = methods.union(*(by_name.get(base, frozenset()) for base in bases))
                able += not is_other and wanted <= inherited
            alone += able <= 1
    return alone


def crawl(url: str, pages: int) -> tuple[set[Path], Counter[str]]:
    """Return the modules of ours that the graph of a site imports, and the calls of each."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["crawl", "sitegraph", "-a", f"hosts={url}", "-s", f"PAGE_BUDGET={pages}"]
        settings = ["-s", "SITE_DELAY_SECONDS=0", "-s", "LOG_LEVEL=ERROR", "-s", "PROGRESS_ENABLED=0"]
        output = subprocess.run(
            [sys.executable, "-c", _CRAWL, str(ROOT / "crawlers"), *arguments, *settings],
            cwd=folder,
            env={"PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawlers.settings", "PATH": "/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
    found = json.loads(output.splitlines()[-1])
    return {Path(file) for file in found["files"] if file}, Counter(found["calls"])


def crawled() -> dict[str, float]:
    """Return what a crawl of a site graph imports of ours, and what each further page calls."""
    with serve() as url:
        _, few = crawl(url, FEW)
        files, calls = crawl(url, PAGES)
    calls.subtract(few)
    more = PAGES - FEW
    return {
        "modules that a site graph imports": len(files),
        "lines of code of those": sum(lines_of(file.read_text("utf-8")).code for file in files),
        "calls of ours per page": round(calls.total() / more, 1),
        "modules that a page passes through": sum(number >= more / 2 for number in calls.values()),
    }


def cpu_s(*arguments: str) -> float:
    """Return the CPU seconds of Python with *arguments*, the least of three."""
    spent = []
    for _ in range(4):  # the first may compile
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return round(min(spent[1:]), 2)


def imported(path: Path) -> set[str]:
    """Return the names of the top-level modules that a module imports, wherever in its text."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


def print_packages() -> None:
    """Print what each package that the program asks for weighs."""
    ours = [imported(path) for path in (ROOT / "crawlers").rglob("*.py")]
    owners = packages_distributions()
    empty = cpu_s("-c", "")
    print(f"{'package':<24} {'import, s':>10} {'MB':>8} {'modules':>8}")
    for package in re.findall(r"^([\w.-]+)==", (ROOT / "requirements.in").read_text("utf-8"), re.M):
        of_package = distribution(package)
        names = {name for name, by in owners.items() if of_package.name in by} | {package}
        used = [one & names for one in ours if one & names]
        import_s = cpu_s("-c", f"import {', '.join(set().union(*used))}") - empty if used else 0.0
        files = [Path(str(file.locate())) for file in of_package.files or ()]
        size = sum(file.stat().st_size for file in files if file.exists())
        print(f"{package:<24} {import_s:>10.2f} {size / 1e6:>8.1f} {len(used):>8}")


def words() -> Counter[str]:
    """Return the words of the documentation by file, without what is generated."""
    paths = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    return Counter(
        {str(path.relative_to(ROOT)): len(_GENERATED.sub("", path.read_text("utf-8")).split()) for path in paths}
    )


def main() -> None:
    if "--packages" in sys.argv:
        print_packages()
        return
    modules, ours = weigh("crawlers")
    written = words()
    settings = vars(importlib.import_module("crawlers.settings"))
    scrapys = vars(importlib.import_module("scrapy.settings.default_settings"))
    figures: dict[str, float] = {
        "modules": modules,
        "lines of code": ours.code,
        "docstrings, % of code and docstrings": round(100 * ours.docstrings / (ours.code + ours.docstrings), 1),
        "classes": len(classes()),
        "protocols with one implementation": lone_protocols(),
        **crawled(),
        "settings of our own": sum(name.isupper() and name not in scrapys for name in settings),
        "tables": len(importlib.import_module("crawlers.store.schema").metadata.tables),
        "pinned packages": len(re.findall(r"^[a-z][\w.-]*==", (ROOT / "requirements.txt").read_text(), re.M | re.I)),
        "lines of code of tests": weigh("tests")[1].code,
        "lines of code of bench": weigh("bench")[1].code,
        "lines of code of examples": weigh("examples")[1].code,
        "words of documentation": written.total(),
        "words of CHANGELOG.md": written["CHANGELOG.md"],
        "words of README.md": written["README.md"],
        "CPU seconds of scrapy list": cpu_s("-m", "scrapy", "list"),
    }
    if "--tests" in sys.argv:
        began = time.monotonic()
        subprocess.run(["make", "test"], cwd=ROOT, check=True)
        figures["minutes of make test"] = round((time.monotonic() - began) / 60, 1)
    for name, value in figures.items():
        print(f"{name:<40} {value:>10,}")


if __name__ == "__main__":
    main()
