"""Edits of real articles for `bench.quality.copies`: those that make copies, and those that make new documents.

An edit takes an article, other articles of its language, and a source of chance; it returns the edited article, or
None if the article is not long enough for it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from babel.core import UnknownLocaleError
from babel.dates import format_date, format_datetime

from crawlers.algorithms.dedup.shingles import words
from crawlers.items import Article

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

_DATE_LINES = (
    "{place}, {long} –",
    "{place} ({agency}) – {medium}",
    "{full} | {time}",
    "{medium}, {time} {zone}",
    "{place}, {long}, {time}. {agency}.",
)
_PLACES = ("Berlin", "London", "Paris", "Madrid", "Roma", "Wien", "New York", "Kyiv", "Beijing", "Bern")
_AGENCIES = ("Reuters", "AFP", "dpa", "AP", "EFE", "ANSA", "TASS", "Xinhua")
_NOTES = {
    "de": "Korrektur vom {date}: In einer früheren Fassung dieses Artikels hieß es, es seien {one} Personen gewesen. "
    "Tatsächlich waren es {other}. Wir haben den Fehler berichtigt und bitten um Entschuldigung.",
    "en": "Correction, {date}: An earlier version of this article misstated the number of people who were present. "
    "It was {other}, not {one}. We apologise for the error.",
    "es": "Corrección del {date}: una versión anterior de este artículo decía que asistieron {one} personas. En "
    "realidad fueron {other}. Lamentamos el error.",
    "fr": "Rectificatif du {date} : une version précédente de cet article indiquait que {one} personnes étaient "
    "présentes. Elles étaient en réalité {other}. Nous présentons nos excuses à nos lecteurs.",
    "ru": "Исправление от {date}: в предыдущей версии этой статьи говорилось, что присутствовали {one} человек. На "
    "самом деле их было {other}. Приносим извинения за ошибку.",
    "zh": "更正({date}):本文早前版本称有{one}人出席,实际人数为{other}人。我们对此错误表示歉意。",
}
_TEMPLATES = {
    "weather": (
        "The weather in the county stays changeable. In the north clouds gather in the morning, with 9 litres of rain"
        " per square metre and 99 degrees at noon. In the south it remains dry until the evening, with highs between "
        "99 and 99 degrees. The wind blows from the west at 99 kilometres an hour, on the coast at up to 99 "
        "kilometres an hour. At night temperatures fall to 9 degrees in the valleys and 9 degrees on the coast. The "
        "water of the lake has 99 degrees. Tomorrow the sun shines for 9 hours in the north and for 9 hours in the "
        "south, with highs of 99 degrees and a probability of rain of 99 percent. The pollen count stays low, the "
        "index of ultraviolet light is 9."
    ),
    "forecast with phrases": "The outlook of the weather service for the regions of the country. In the north {en}, "
    "with highs of 99 degrees. The lakes in the west expect {en}, with highs of 99 degrees. For the mountains in the "
    "south the service predicts {en} and 99 degrees at the foot of the slopes. The valleys of the east see {en}, with "
    "99 degrees in the afternoon. On the islands off the coast {en}, and the thermometer climbs to 99 degrees. People "
    "are asked to watch the signs along the passes and to allow enough time for their journeys, since roads may be "
    "slippery in the early hours of the day before the services have been around.",
    "forecast in Chinese": "中央气象台发布未来三天全国主要城市天气预报。北京今天白天{zh},最高气温99度,夜间注意保暖。"
    "上海今天白天{zh},最高气温99度,出行请带好雨具。广州今天白天{zh},最高气温99度,空气湿度较大。成都今天白天{zh},最高气温99度,"
    "早晚温差明显。气象专家提醒,近期天气变化较快,请市民及时关注最新预报,合理安排出行时间,老人和儿童应注意增减衣物,"
    "驾车出行要保持安全距离,农业部门应做好田间管理和防灾减灾的各项准备工作。",
    "quotes": "Stocks at the exchange closed mixed on Tuesday. The leading index ended at 9999 points, a change of 9 "
    "percent from the day before, after it had traded between 9999 and 9999 points. Of the 99 shares in the index 99 "
    "rose and 99 fell. Turnover amounted to 999 million. The euro was traded at 9 dollars in the evening, gold at 9999 "
    "dollars an ounce, and a barrel of oil cost 99 dollars. The yield of bonds with a term of ten years stood at 9 "
    "percent. Traders said that investors were waiting for figures from the central bank.",
    "results": "Results of the premier division at a glance: Northfield against Riverside 9 : 9, Eastport against "
    "Old Town 9 : 9, Kingsbridge against Mill Lane 9 : 9, Harbour United against Queens Park 9 : 9, Station Road "
    "against Westgate 9 : 9. The matches were watched by 9999 spectators in all. Northfield leads the table with 99 "
    "points and 99 goals, followed by Eastport with 99 points and Kingsbridge with 99 points. Westgate stays at the "
    "bottom with 9 points. The next round takes place at the weekend.",
    "levels": "The water authority publishes the level of the river every morning. At the gauge below the old bridge "
    "it stood at 999 centimetres today, and the flow was 999 cubic metres a second. Shipping is not restricted for the "
    "time being, and the paths along the banks remain open for walkers and cyclists. The authority asks residents of "
    "the lower town to keep their cellars clear and to follow further announcements. The next reading will be "
    "published at 99 o'clock tomorrow.",
}
_PHRASES = {
    "en": (
        "partly cloudy with some showers", "bright and dry all day long", "fog that clears slowly before noon",
        "rain in most places", "a fresh breeze and much sunshine", "thunderstorms towards the evening", "overcast",
    ),
    "zh": ("晴转多云", "小雨", "阴有阵雨", "大部晴朗", "雷阵雨转阴", "多云间晴", "有雾"),
}  # fmt: skip
NEW_SOURCES = 5  # articles of which the new part of a follow-up is made
LEAD_TOKENS = 120  # words and the blanks between them; a longer first paragraph is rewritten up to there
_CJK = "\u3040-\u30ff\u3400-\u9fff"
_TOKEN = re.compile(rf"\s+|[{_CJK}]|[^\s{_CJK}]+")


def small_edits(article: Article, others: Sequence[Article], rng: random.Random) -> Article | None:
    """Change, add or remove two to five words."""
    tokens = _tokens(article.text)
    places = [place for place, token in enumerate(tokens) if not token.isspace()]
    for place in sorted(rng.sample(places, rng.randrange(2, 6)), reverse=True):
        new = rng.choice([token for token in _tokens(rng.choice(others).text) if not token.isspace()])
        tokens[place : place + rng.randrange(2)] = [new, " "] * rng.randrange(2)
    return replace(article, text="".join(tokens))


def date_line(article: Article, others: Sequence[Article], rng: random.Random) -> Article | None:
    """Put place, agency, date or time before the text."""
    return _before(article, _date_line(article.language, rng))


def paragraph_dropped(article: Article, others: Sequence[Article], rng: random.Random) -> Article | None:
    """Drop one of at least four paragraphs."""
    lines = article.text.splitlines()
    if len(lines) < 4:
        return None
    del lines[rng.randrange(len(lines))]
    return replace(article, text="\n".join(lines))


def correction_note(article: Article, others: Sequence[Article], rng: random.Random) -> Article | None:
    """Put a note with a date and two numbers before or after the text."""
    language = article.language if article.language in _NOTES else "en"
    date = format_date(_moment(rng), "long", locale=language)
    note = _NOTES[language].format(date=date, one=rng.randrange(20, 90), other=rng.randrange(100, 900))
    text = f"{note}\n{article.text}" if rng.random() < 0.3 else f"{article.text}\n{note}"
    return replace(article, text=text)


def rewritten_and_cut(article: Article, others: Sequence[Article], rng: random.Random) -> Article | None:
    """Give it another headline and another lead of equal length, and cut 10 to 25 % of the whole from the end."""
    tokens, other = _tokens(article.text), rng.choice(others)
    lead = min(len(_tokens(article.text.partition("\n")[0])), LEAD_TOKENS, len(tokens) // 5)
    end = len(tokens) - round(len(tokens) * rng.uniform(0.1, 0.25))
    text = "".join([*_tokens(other.text)[:lead], " ", *tokens[lead:end]])
    return replace(article, title=other.title, text=text)


def follow_up(
    article: Article, others: Sequence[Article], rng: random.Random, *, kept: float, news: float
) -> Article | None:
    """Report something new: *news* is its share of the result; *kept* is that of the old text in it, from its begin
    or its end."""
    tokens = _tokens(article.text)
    half = round(kept * len(tokens))
    background = tokens[:half] if rng.random() < 0.5 else tokens[-half:]
    count = round(half / (1 - news) * news)
    sources = rng.sample(others, min(NEW_SOURCES, len(others)))
    # So little of each that the result is a copy of none of them.
    new = [token for one in sources for token in [*_tokens(one.text)[: count // NEW_SOURCES], " "]]
    if len(new) < count:
        return None
    parts = [new, background] if rng.random() < 0.7 else [background, new]
    return replace(article, title=rng.choice(others).title, text="\n".join(map("".join, parts)))


def other_words(article: Article, others: Sequence[Article], rng: random.Random, *, every: int) -> Article | None:
    """Replace one word in *every*, but no number, as names and topics in the gaps of a template."""
    tokens = _tokens(article.text)
    places = [place for place, token in enumerate(tokens) if not token.isspace() and not _is_number(token)]
    for place in places[every // 2 :: every]:
        tokens[place] = rng.choice([token for token in _tokens(rng.choice(others).text) if not token.isspace()])
    return replace(article, text="".join(tokens))


def other_numbers(article: Article, others: Sequence[Article], rng: random.Random) -> Article | None:
    """Replace all of its numbers, if there are at least three, and one in forty words."""
    found = words(article.text)
    if sum(map(_is_number, found)) < max(3, len(found) / 40):
        return None
    return replace(article, text="".join(_other_digit(character, rng) for character in article.text))


def without_numbers(article: Article) -> Article:
    """Return *article* without its numbers."""
    return replace(article, text="".join(token for token in _tokens(article.text) if not _is_number(token)))


def reports(rng: random.Random, count: int) -> dict[str, list[Article]]:
    """Return *count* reports of each template: they differ in what fills its gaps, numbers and phrases beside them."""

    def phrase(match: re.Match[str]) -> str:
        return rng.choice(_PHRASES[match[1]])

    def number(match: re.Match[str]) -> str:
        return f"{rng.uniform(0, 10 ** len(match[0])):.{rng.randrange(2)}f}"

    def filled(text: str) -> str:
        return re.sub("9+", number, re.sub("{(..)}", phrase, text))

    return {
        kind: [
            Article(
                f"{kind} today",
                re.sub("9+", number, re.sub("{(..)}", phrase, text)),
                None,
                "",
                (),
                "",
                "en",
                "",
                "",
                "rule",
            )
            for _ in range(count)
        ]
        for kind, text in _TEMPLATES.items()
    }


def _tokens(text: str) -> list[str]:
    """Return words with their punctuation, the characters of scripts without spaces, and blanks."""
    return _TOKEN.findall(text)


def _before(article: Article, line: str) -> Article:
    return replace(article, text=f"{line}{' ' if line.endswith('–') else chr(10)}{article.text}")


def _date_line(language: str, rng: random.Random) -> str:
    moment = _moment(rng)
    try:
        forms = {form: format_date(moment, form, locale=language or "en") for form in ("full", "long", "medium")}
    except (UnknownLocaleError, ValueError):
        return _date_line("en", rng)
    forms["time"] = format_datetime(moment, "HH:mm", locale=language or "en")
    return rng.choice(_DATE_LINES).format(
        place=rng.choice(_PLACES), agency=rng.choice(_AGENCIES), zone=rng.choice(("CET", "UTC", "GMT")), **forms
    )


def _moment(rng: random.Random) -> datetime:
    return datetime(2026, 1, 1) + timedelta(minutes=rng.randrange(300 * 1440))


def _is_number(word: str) -> bool:
    return any(character.isdigit() for character in word)


def _other_digit(character: str, rng: random.Random) -> str:
    return str((int(character) + rng.randrange(1, 10)) % 10) if character.isdecimal() else character
