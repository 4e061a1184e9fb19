"""The actions of `scrapy sites`, by which they are called and described."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Action(NamedTuple):
    """An action: its function, its arguments, what it does, the numbers of its arguments, and its options."""

    function: str  # "module:name", which is imported when it runs: it takes settings, arguments, options
    arguments: str
    about: str
    least: int = 1
    most: int = sys.maxsize
    options: Sequence[str] = ()
