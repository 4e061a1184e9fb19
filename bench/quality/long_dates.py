"""How many long dates of CLDR are read, and how many dateparser reads: of each locale one day of each month.

    python -m bench.quality.long_dates

Dates are written as Babel writes them ("3. listopada 2024."). They are read with the language of the locale, as that of
a page, and with no language, as on a page that does not tell it.
"""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import TYPE_CHECKING

import dateparser
from babel.dates import format_date

from bench.quality.month_names import forget_locales
from crawlers.sites.date_notations import read_date

if TYPE_CHECKING:
    from collections.abc import Callable

# The languages of most of the world's newspapers.
LOCALES = (
    "en de fr es it pt nl sv da nb fi is pl cs sk sl hr sr bs bg mk ru uk be lt lv et hu ro el tr az ka hy kk ar fa he"
    " ur hi bn ta te th vi id ms zh ja ko ca eu gl"
)
DAYS = [
    date(2024, month, day)
    for month, day in zip(range(1, 13), [3, 29, 9, 11, 12, 30, 7, 31, 1, 10, 22, 25], strict=True)
]


def ours(text: str, *languages: str) -> date | None:
    found = read_date(text, languages)
    return None if found is None else found.when.date()


def of_dateparser(text: str, *languages: str) -> date | None:
    found = dateparser.parse(text, languages=list(languages) or None, settings={"STRICT_PARSING": True})
    return None if found is None else found.date()


def main() -> None:
    locales = LOCALES.split()
    written = {}
    for locale in locales:
        forget_locales()
        written[locale] = [format_date(day, "long", locale) for day in DAYS]
    print(f"| {len(locales)} locales, 12 months | right | wrong | not read |\n|---|--:|--:|--:|")
    readers: dict[str, Callable[..., date | None]] = {"ours": ours, "dateparser": of_dateparser}
    for name, read in readers.items():
        for kind, with_language in (("with the language", True), ("without", False)):
            counts: Counter[str] = Counter()
            for locale, texts in written.items():
                for day, text in zip(DAYS, texts, strict=True):
                    try:
                        found = read(text, *([locale] if with_language else []))
                    except ValueError:  # a language that dateparser does not know
                        found = None
                    counts["none" if found is None else "right" if found == day else "wrong"] += 1
            print(f"| {name}, {kind} | {counts['right']} | {counts['wrong']} | {counts['none']} |")


if __name__ == "__main__":
    main()
