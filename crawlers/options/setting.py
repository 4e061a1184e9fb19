"""What a setting is declared as."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from crawlers.options.kinds import File
from crawlers.options.typed_values import typed

if TYPE_CHECKING:
    from crawlers.options.kinds import Kind


class Reach(Enum):
    """What a setting is about."""

    RESULTS = "results depend on it: it is part of what a crawl records of itself"
    CRAWL = "one crawl, and not what its pages are"
    MACHINE = "where a crawl runs: the panel does not offer it"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting; *help* is a phrase with the unit, and with what 0 or an empty value means, if it means something else.

    Its text in docs/details/settings.md says what else there is to know.
    """

    name: str
    default: Any
    kind: Kind
    reach: Reach = Reach.CRAWL
    help: str = ""
    group: str = ""

    def says(self, text: str) -> Setting:
        """Return the setting with its help."""
        return replace(self, help=text)

    @property
    def is_output(self) -> bool:
        """Whether it names a file, which the panel does not take."""
        return isinstance(self.kind, File)

    @property
    def default_text(self) -> str:
        """The default as it is typed."""
        return typed(self.default)


def group(title: str, *settings: Setting) -> tuple[Setting, ...]:
    """Return *settings* with the heading under which people find them."""
    return tuple(replace(one, group=title) for one in settings)
