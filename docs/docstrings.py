"""Turns the docstrings of the code into Markdown for the site; a Griffe extension, named in mkdocs.yml."""

from __future__ import annotations

import re
from typing import Any

import griffe


def markdown(docstring: str) -> str:
    """Return *docstring* with its doctests as code blocks, its headings in bold, and its references as a list."""
    text = re.sub(r"^(\w+)\n-{4,}\n+", r"**\1**\n\n", docstring, flags=re.MULTILINE)
    text = re.sub(r"^\.\. \[(\d+)\]", r"\1.", text, flags=re.MULTILINE)
    return re.sub(r"^>>> .*?(?=\n\n|\Z)", lambda doctest: f"```pycon\n{doctest[0]}\n```", text, flags=re.M | re.S)


class Docstrings(griffe.Extension):
    """Gives mkdocstrings the docstrings as Markdown."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite the docstring of one module, class, function or attribute."""
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)
