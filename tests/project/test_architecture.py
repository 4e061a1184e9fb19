"""The architecture of the code: layers, module names, docstrings."""

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

FILES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
TEXTS = {name: path.read_text("utf-8") for name, path in FILES.items()}

PACKAGE_DOCSTRING_LINES = 10  # at most: purpose, rules, where to begin


@pytest.fixture(scope="module")
def trees():
    return {name: ast.parse(text) for name, text in TEXTS.items()}


def test_modules_have_docstrings(trees):
    assert [name for name, tree in trees.items() if not ast.get_docstring(tree)] == []


def test_docstrings_of_packages_have_few_lines(trees):
    packages = {name: tree for name, tree in trees.items() if FILES[name].name == "__init__.py"}
    lines = {name: len(ast.get_docstring(tree).splitlines()) for name, tree in packages.items()}
    assert lines
    assert {name: number for name, number in lines.items() if number > PACKAGE_DOCSTRING_LINES} == {}


def test_public_functions_and_classes_have_docstrings(trees):
    bare = [
        f"{name}: {node.name}"
        for name, tree in trees.items()
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and not node.name.startswith("_")
        and not (node.name in ("Command", "main") or ast.get_docstring(node))
    ]
    assert bare == [], "write docstrings"


OF_PEOPLE = ("web/",)  # packages that no egg of scrapyd runs


def test_files_of_the_package_are_read_as_resources():
    """A crawl may run from an egg, which is not unpacked."""
    found = [name for name, text in TEXTS.items() if "Path(__file__)" in text and not name.startswith(OF_PEOPLE)]
    assert found == [], "use importlib.resources.files(__package__)"


SHARED_NAMES = {
    "__init__",
    "__main__",
    "news",
    "options",
    "report",
    "topic",
    "web",
    "workers",
}  # their packages qualify them


def test_module_names_are_unique():
    twice = [name for name, number in Counter(path.stem for path in FILES.values()).items() if number > 1]
    assert set(twice) <= SHARED_NAMES, "give each module a unique name"


def _getattr_on_spiders(tree, *, is_in_spider=False):
    """Return the lines that use getattr or hasattr on a spider."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("getattr", "hasattr")
        and ("spider" in ast.unparse(node.args[0]) or (is_in_spider and "self" in ast.unparse(node)))
    ]


def test_attributes_of_spiders_are_typed(trees):
    lines = {
        name: _getattr_on_spiders(tree, is_in_spider=FILES[name].parent.name == "spiders")
        for name, tree in trees.items()
    }
    found = {name: numbers for name, numbers in lines.items() if numbers}
    assert found == {}, "use a method of SiteSpider, or isinstance, in place of getattr and hasattr"


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
