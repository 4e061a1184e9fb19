"""The shape of the code: short files, floors, docstrings."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "crawlers"
MOST_LINES = 300

FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.stat().st_size)
NAMES = [path.relative_to(PACKAGE).as_posix() for path in FILES]
every_file = pytest.mark.parametrize("path", FILES, ids=NAMES)


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def test_the_package_has_files():
    assert len(FILES) > 50


@every_file
def test_file_is_short_enough_to_be_read(path):
    assert len(path.read_text("utf-8").splitlines()) <= MOST_LINES, "split it: one idea a file"


@every_file
def test_module_begins_with_what_it_is_for(path):
    assert ast.get_docstring(_tree(path))


@every_file
def test_public_functions_and_classes_have_docstrings(path):
    if path.parent.name == "versions":
        pytest.skip("a migration is one function of a known name")
    bare = [
        node.name
        for node in _tree(path).body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and not node.name.startswith("_")
        and not (node.name in ("Command", "main") or ast.get_docstring(node))
    ]
    assert not bare, f"{', '.join(bare)}: say what the caller gets"


def test_imports_point_downwards_and_scrapy_stays_in_the_glue():
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Contracts: [1-9]\d* kept, 0 broken", done.stdout), done.stdout
