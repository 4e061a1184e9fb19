"""Makes crawlers/sites/date_notations.json from the data of CLDR that Babel brings with it.

    python -m bench.quality.month_names

For each name of a month, without optional marks, the table has the months that it means, and in which languages: the
wide and the abbreviated names of all countries of a language, as they stand in a date and alone, with the letters that
the language puts before or behind them in a date. Languages are those with a code of two letters (ISO 639-1).
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from babel import Locale, localedata
from babel.languages import get_official_languages

from crawlers.sites import date_notations
from crawlers.sites.date_notations import TABLE, folded, name_key

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARTICLE = re.compile(r"\A(?:de |d )")  # of Catalan and Asturian names, also written apart
_ATTACHED = re.compile(r"([^\W\d_]*)%\((?:MMMM?|LLLL?)\)s([^\W\d_]*)")
# Notations of other programs that CLDR does not have.
FURTHER = {
    "de": {"mrz": 3}, "en": {"sept": 9}, "ru": {"сен": 9, "ноя": 11}, "id": {"agu": 8, "agt": 8},
    "no": {"mars": 3}, "pl": {"pazdz": 10}, "fi": {"huhti": 4},
}  # fmt: skip


def made() -> dict[str, Any]:
    """Return the table."""
    names: defaultdict[str, defaultdict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    countries: dict[str, str] = {}
    for identifier in localedata.locale_identifiers():
        forget_locales()
        locale = Locale.parse(identifier)
        if len(locale.language) != 2:
            continue
        for name, month in _names(locale):
            names[name][month].add(locale.language)
        country = (locale.territory or "").lower()
        if len(country) == 2 and country.isalpha():
            spoken = get_official_languages(country, de_facto=True)
            countries[country] = " ".join(dict.fromkeys(name.partition("_")[0] for name in spoken))
    for language, further in FURTHER.items():
        for name, month in further.items():
            names[name][month].add(language)
    return {
        "made_by": "python -m bench.quality.month_names",
        "countries": {country: spoken for country, spoken in sorted(countries.items()) if spoken},
        "names": {
            name: {str(month): " ".join(sorted(languages)) for month, languages in sorted(months.items())}
            for name, months in sorted(names.items())
        },
    }


def forget_locales() -> None:
    """Empty Babel's cache: in Babel 2.18 names that a locale inherits by reference are those of the locale that used
    the reference first."""
    localedata._cache.clear()


def _names(locale: Locale) -> Iterator[tuple[str, int]]:
    """Yield the keys of the names of months in *locale* that have letters, with their months."""
    formats = [locale.date_formats[length].format for length in ("full", "long", "medium")]
    around = {("", "")} | {(found[1], found[2]) for one in formats for found in _ATTACHED.finditer(one)}
    for context, width in product(("format", "stand-alone"), ("wide", "abbreviated")):
        for month, name in locale.months[context][width].items():
            for before, behind in around:
                key = name_key(folded(f"{before}{name}{behind}"))
                if key and not any(char.isdigit() for char in name):
                    yield key, month
                    yield _PARTICLE.sub("", key), month


def main() -> None:
    path = Path(date_notations.__file__).parent / TABLE
    table = made()
    lines = ",\n".join(
        f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(months)}" for name, months in table["names"].items()
    )
    head = json.dumps({name: value for name, value in table.items() if name != "names"})[:-1]
    path.write_text(f'{head},\n"names": {{\n{lines}\n}}}}\n', "utf-8")


if __name__ == "__main__":
    main()
