"""What MkDocs calls while it builds the site.

It adds the pages of the Python API, one for each package of the project, and reads tables as GitHub does.
"""

from __future__ import annotations

import ast
import re
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[1]
NOT_SHOWN = "demo"  # the web that `make demo` crawls
PACKAGES = sorted(
    path.parent.relative_to(ROOT) for path in (ROOT / "crawlers").rglob("__init__.py") if NOT_SHOWN not in path.parts
)


def _dotted(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)


def _address(package: Path) -> str:
    return f"reference/api/{_dotted(package)}.md"


def _nav(packages: list[Path]) -> Any:
    """Return the pages of the packages of one layer: its own page first, then those of its sub-packages."""
    pages = [{_dotted(package): _address(package)} for package in packages]
    return pages[0] if len(pages) == 1 else {_dotted(packages[0]): pages}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Append the pages to the section "Reference" of the navigation."""
    (reference,) = (section["Reference"] for section in config.nav or () if "Reference" in section)
    layers = [list(packages) for _, packages in groupby(PACKAGES, lambda package: package.parts[:2])]
    reference.append({"Python API": [{"Overview": "reference/api/index.md"}, *map(_nav, layers)]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, whose text mkdocstrings takes from the docstrings."""
    files.append(File.generated(config, "reference/api/index.md", content=_overview()))
    for package in PACKAGES:
        files.append(File.generated(config, _address(package), content=_page(package)))
    return files


def _overview() -> str:
    rows = [f"| [{_dotted(package)}]({_dotted(package)}.md) | {_first_line(package)} |" for package in PACKAGES]
    return "\n".join(["# Python API", "", "| package | contents |", "|---|---|", *rows])


def _first_line(package: Path) -> str:
    docstring = ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text("utf-8"))) or ""
    return docstring.partition("\n\n")[0].replace("\n", " ")


def _page(package: Path) -> str:
    """Return the page of *package*: its docstring, then a section for each of its modules."""
    modules = sorted(path.stem for path in (ROOT / package).glob("*.py") if path.stem != "__init__")
    sections = [f"## {name}\n\n::: {_dotted(package / name)}\n    options: {{heading_level: 3}}" for name in modules]
    return "\n\n".join([f"# {_dotted(package)}", f"::: {_dotted(package)}", *sections])


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Drop the backslash before a pipe in the code of a table: GitHub needs it, Python-Markdown would show it."""
    return re.sub(r"^\|.*", lambda row: re.sub(r"`[^`]*`", _without_backslash, row[0]), markdown, flags=re.MULTILINE)


def _without_backslash(code: re.Match[str]) -> str:
    return code[0].replace("\\|", "|")
