"""What a worker reports about itself in its rounds, as it is stored in `worker.status`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Wait(StrEnum):
    """What a site waits for, as people read it; each open site of a worker waits for one thing."""

    READY = "ready"  # its turn: a page may be requested now
    RESPONSE = "response"  # responses: as many pages are in flight as it allows, or as its order allows
    DELAY = "politeness delay"  # its politeness delay
    REST = "host's rest"  # a pause that the host requested
    ROBOTS = "robots.txt"
    SITEMAP = "its sitemaps"  # which are read before pages
    TRIAL = "responses of other sites"  # room among the sites that did not respond yet
    RETRY = "retry"  # the retry of a failed download
    REVISIT = "revisit"  # a scheduled revisit
    NOTHING = "nothing waits"


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """The pages per second of a worker over the last minute, and the numbers of its sites by what they wait for."""

    pages_per_s: float = 0.0
    waits: Mapping[Wait, int] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the status as text.

        >>> WorkerStatus(1.5, {Wait.READY: 2}).to_json()
        '{"pages_per_s": 1.5, "waits": {"ready": 2}}'
        """
        waits = {wait.value: number for wait, number in self.waits.items() if number}
        return json.dumps({"pages_per_s": round(self.pages_per_s, 3), "waits": waits})


def read_status(text: str | None) -> WorkerStatus:
    """Return the status in *text*; None: there is none yet.

    >>> read_status('{"pages_per_s": 1.5, "waits": {"ready": 2}}')
    WorkerStatus(pages_per_s=1.5, waits={<Wait.READY: 'ready'>: 2})
    """
    if text is None:
        return WorkerStatus()
    found = json.loads(text)
    return WorkerStatus(found["pages_per_s"], {Wait(name): number for name, number in found["waits"].items()})
