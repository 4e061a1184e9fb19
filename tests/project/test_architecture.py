"""The architecture of the code: layers, module names, docstrings."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import grimp
import networkx
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "crawlers"

FILES = sorted(PACKAGE.rglob("*.py"))
NAMES = [path.relative_to(PACKAGE).as_posix() for path in FILES]
every_file = pytest.mark.parametrize("path", FILES, ids=NAMES)

PACKAGE_DOCSTRING_LINES = 10  # at most: purpose, rules, where to begin


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def test_package_has_files():
    assert len(FILES) > 50


@every_file
def test_module_has_a_docstring(path):
    assert ast.get_docstring(_tree(path))


@pytest.mark.parametrize("path", [path for path in FILES if path.name == "__init__.py"], ids=str)
def test_docstring_of_a_package_has_few_lines(path):
    assert len((ast.get_docstring(_tree(path)) or "").splitlines()) <= PACKAGE_DOCSTRING_LINES


@every_file
def test_public_functions_and_classes_have_docstrings(path):
    bare = [
        node.name
        for node in _tree(path).body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and not node.name.startswith("_")
        and not (node.name in ("Command", "main") or ast.get_docstring(node))
    ]
    assert not bare, f"{', '.join(bare)}: write a docstring"


OF_PEOPLE = ("web/",)  # packages that no egg of scrapyd runs


@every_file
def test_files_of_the_package_are_read_as_resources(path):
    """A crawl may run from an egg, which is not unpacked."""
    if not path.relative_to(PACKAGE).as_posix().startswith(OF_PEOPLE):
        assert "Path(__file__)" not in path.read_text("utf-8"), "use importlib.resources.files(__package__)"


SHARED_NAMES = {
    "__init__",
    "__main__",
    "news",
    "report",
    "topic",
    "web",
    "workers",
}  # names that are qualified by their package


def test_module_names_are_unique():
    twice = [name for name, number in Counter(path.stem for path in FILES).items() if number > 1]
    assert set(twice) <= SHARED_NAMES, "give each module a unique name"


def _getattr_on_spiders(path: Path) -> list[int]:
    """Return the lines that use getattr or hasattr on a spider."""
    return [
        node.lineno
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("getattr", "hasattr")
        and ("spider" in ast.unparse(node.args[0]) or (path.parent.name == "spiders" and "self" in ast.unparse(node)))
    ]


@every_file
def test_attributes_of_spiders_are_typed(path):
    lines = _getattr_on_spiders(path)
    assert not lines, f"line {lines}: use a method of SiteSpider, or isinstance, in place of getattr and hasattr"


def test_getattr_on_a_spider_is_found(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text(
        'getattr(spider, "a", 1)\nhasattr(crawler.spider, "b")\ngetattr(self._spider, "c")\nhasattr(x, "d")\n'
    )
    assert _getattr_on_spiders(bad) == [1, 2, 3]


def test_no_modules_import_each_other_in_a_circle_not_even_for_types():
    graph = grimp.build_graph("crawlers", cache_dir=None)
    imports = [(module, other) for module in graph.modules for other in graph.find_modules_directly_imported_by(module)]
    circles = networkx.strongly_connected_components(networkx.DiGraph(imports))
    assert [sorted(circle) for circle in circles if len(circle) > 1] == []


def test_imports_point_downwards_and_only_the_edge_imports_scrapy():
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Contracts: [1-9]\d* kept, 0 broken", done.stdout), done.stdout
