"""The pictures, by name: every one that a module of a subject describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.mission import parts_of_all
from crawlers.reports.catalogue.registry import described_in
from crawlers.reports.pictures import page_pictures, pull_pictures
from crawlers.reports.pictures.picture import Picture

if TYPE_CHECKING:
    from collections.abc import Mapping

SUBJECTS = (pull_pictures, *parts_of_all("pictures"), page_pictures)
PICTURES: Mapping[str, Picture] = {one.name: one for module in SUBJECTS for one in described_in(module, Picture)}
