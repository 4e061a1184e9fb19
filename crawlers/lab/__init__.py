"""Comparisons of rules, orders and strategies without requests: what `scrapy lab` does. Only that command imports it.

`PARTS` are the parts of the command, a module each. They compute rules on synthetic webs (`experiment`), and replay
rules and orders on stored ones (`order_replay`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.lab import learn, replay, simulate
from crawlers.mission import missions

if TYPE_CHECKING:
    from crawlers.lab.options import LabPart

__all__ = ["PARTS"]

PARTS: dict[str, LabPart] = {
    "simulate": simulate,
    "replay": replay,
    "learn": learn,
    **{name: part for name, one in missions().items() if (part := one.part("lab"))},
}
