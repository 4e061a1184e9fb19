"""Checks settings that are given in the panel, where whoever may start crawls can neither read nor write files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.inputs.link_prior_file import LINK_PRIOR, WORDS
from crawlers.options import OFFERED, OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_VALUE = 2000  # characters


def check_offered(given: Mapping[str, str]) -> dict[str, str]:
    """Return what is wrong with settings that are *given* in the panel, by name: those not offered, and files.

    Everything else is checked by the crawl itself before it begins.
    """
    return {name: problem for name, value in given.items() if (problem := _problem(name, value))}


def _problem(name: str, value: str) -> str:
    if name not in OFFERED or name in OUTPUTS:
        return f"{name} can't be set here; start the crawl in a terminal"
    if len(value) > MAX_VALUE:
        return f"{name} has {len(value):,} characters; write at most {MAX_VALUE:,}"
    if not value.isprintable():
        return f"{name} has characters that can't be printed; write it on one line"
    if name == LINK_PRIOR and value not in WORDS:
        return f"{name}={value} can't be set here; write {' or '.join(WORDS)}"
    return ""
