"""`python -m docs.texts` brings the translations of the panel up to date, by all of its texts in English.

A text is a literal in a template or in a sentence of a report, or a name in one of the registries below.
"""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from crawlers.graphs.crawl_map import MEANINGS
from crawlers.mission import missions, parts_of_all
from crawlers.options import OFFERED
from crawlers.reasons import Reason
from crawlers.reports.catalogue.conditions import FILTERS
from crawlers.reports.catalogue.registry import REPORTS
from crawlers.reports.catalogue.report import Group
from crawlers.reports.catalogue.site_report import SEEDS, SeedState
from crawlers.reports.histories.history import STATES, Topic
from crawlers.reports.live_display import ASKED
from crawlers.store.worker_rows import ACTIVE, LEFT, LOST, Wait
from crawlers.web.pages import compare_pages
from crawlers.web.pages.graph_pages import NODE_COLUMNS
from crawlers.web.pages.picture_pages import PICTURES
from crawlers.web.panel import DISK_FULL, HERE, INTERNAL_ERROR, LANGUAGES, NO_SUCH_PAGE, catalogue_path
from crawlers.workers.worker_table import SITES, WORKERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The words of kinds, places, results and origins that the store or a report has.
KINDS = (
    *("feed", "sitemap", "sitemap index", "news sitemap", "read", "not read", "store"),
    *("nav", "header", "footer", "main", "aside", "internal", "bad"),
    *(word for words in parts_of_all("words") for word in words),
)

Text = str | tuple[str, ...]  # for one and for any other number

_OF_TEMPLATES: dict[str, Any] = {"_": None, "ngettext": (1, 2)}
TEMPLATES = [
    (folder, [("**.html", "jinja2")], _OF_TEMPLATES) for folder in (HERE / "templates", HERE.parent / "missions")
]
_OF_REPORTS: dict[str, Any] = {
    "fact": (2,),
    "event": (3,),
    "said": None,
    "N_": None,
    "Count": (2, 3),
    "Axis": (2,),
    "Series": (1,),
}
_PACKAGES = ("reports", "missions", "workers")
SENTENCES = [(HERE.parent / package, [("**.py", "python")], _OF_REPORTS) for package in _PACKAGES]
ERRORS = (HERE, [("**.py", "python")], {"HTTPException": (2,)})


def texts() -> list[Text]:
    """Return every text once, in order of its first place."""
    return list(dict.fromkeys([*_literals(), *_names()]))


def _literals() -> Iterator[Text]:
    for folder, methods, keywords in (*TEMPLATES, *SENTENCES, ERRORS):
        options = {"**.html": {"extensions": "jinja2.ext.i18n", "newstyle_gettext": "true"}}
        found = extract_from_dir(folder, methods, options, keywords, directory_filter=lambda _: True)
        for _, _, text, _, _ in sorted(found, key=lambda one: one[:2]):
            yield text


def _names() -> Iterator[str]:
    for report in REPORTS.values():
        yield from (report.title, report.about, report.empty, *(column.title for column in report.columns))
    yield from (one.label for one in FILTERS.values())
    for picture in PICTURES.values():
        yield from (picture.title, picture.about)
    for names in (Group, Topic, SeedState, Wait):
        yield from (str(one.value) for one in names if one is not Topic.MISSION)  # whose heading is the mission's name
    yield from STATES
    yield from (reason.sentence for reason in Reason)
    yield from KINDS
    yield from (ACTIVE, LEFT, LOST, *ASKED.values())
    yield from (INTERNAL_ERROR, NO_SUCH_PAGE, DISK_FULL)
    yield from MEANINGS
    yield from (
        column.title
        for columns in (WORKERS, SEEDS, SITES, NODE_COLUMNS, *compare_pages.COLUMNS.values())
        for column in columns
    )
    yield from (mission.about for mission in missions().values())
    for setting in OFFERED.values():
        yield from (setting.group, setting.help)


def updated(language: str) -> tuple[bytes, list[str]]:
    """Return the file of translations into *language*, with all texts of today, and those that lack one."""
    path = catalogue_path(language)
    before = read_po(io.BytesIO(path.read_bytes() if path.exists() else b""), locale=language)
    after = Catalog(locale=Locale.parse(language))
    for text in texts():
        known = before.get(text if isinstance(text, str) else text[0])
        after.add(text, known.string if known is not None else None, flags=known.flags if known is not None else ())
    file = io.BytesIO()
    write_po(file, after, width=0, omit_header=True)  # its dates would change without any other change
    return file.getvalue(), [str(one.id) for one in after if one.id and not _is_whole(one.string)]


def _is_whole(translation: str | Sequence[str] | None) -> bool:
    return translation is not None and translation != "" and all(translation)


def main() -> None:
    """Bring all files of translations up to date, and say which are missing."""
    for language in LANGUAGES:
        if language != "en":
            content, missing = updated(language)
            catalogue_path(language).write_bytes(content)
            sys.stdout.write(f"{language}: {len(missing)} of {len(texts())} texts are not translated\n")
            sys.stdout.writelines(f"  {one}\n" for one in missing)


if __name__ == "__main__":
    main()
