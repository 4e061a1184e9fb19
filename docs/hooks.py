"""What MkDocs calls while it builds the site.

It adds a page of the Python API for each package of the project, and reads tables as GitHub does.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

CODE = Path(__file__).resolve().parents[1] / "crawlers"
NOT_SHOWN = {"demo"}  # the web that `make demo` crawls is no interface
MODULES = ["items", "errors"]
PACKAGES = sorted(path.parent.name for path in CODE.glob("*/__init__.py") if path.parent.name not in NOT_SHOWN)


def _address(name: str) -> str:
    return f"reference/api/{name}.md"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Append the pages to the section "Reference" of the navigation."""
    (reference,) = (section["Reference"] for section in config.nav or () if "Reference" in section)
    reference.append({"Python API": [{name: _address(name)} for name in PACKAGES + MODULES]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, whose text mkdocstrings takes from the docstrings."""
    for name in PACKAGES + MODULES:
        files.append(File.generated(config, _address(name), content=f"# crawlers.{name}\n\n::: crawlers.{name}\n"))
    return files


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Drop the backslash before a pipe in the code of a table: GitHub needs it, Python-Markdown would show it."""
    return re.sub(r"^\|.*", lambda row: re.sub(r"`[^`]*`", _without_backslash, row[0]), markdown, flags=re.MULTILINE)


def _without_backslash(code: re.Match[str]) -> str:
    return code[0].replace("\\|", "|")
