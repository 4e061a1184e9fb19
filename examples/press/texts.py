"""Names, headlines and paragraphs of the press, each a pure function of a random number generator."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from examples.webs.prose import ADJECTIVES, NOUNS, PEOPLE, PLACES, TIMES, sentence, words

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

_SYLLABLES = words(
    "ar bel bor cal dan del dor el fen gar hal ith kar kel lan lin lor mar mel mor nev or pel ran ris sel"
)
_ENDINGS = words("ton ford wick dale ham mouth berg holm by stead field bury")
_GIVEN = words(
    "Ada Boris Clara Dmitri Edith Felix Greta Hugo Irene Jonas Karin Leo Mara Nils Olga Petra Rosa Sven Tessa"
)
_SAID = words("said|told reporters|wrote in a letter|explained|warned|admitted|announced")
_DEEDS = words(
    "approves opens closes postpones discusses rejects presents rebuilds inspects defends sells buys studies visits"
)
_THINGS = words(
    "budget bridge school station theatre hospital stadium archive ferry airport library market tunnel harbour tram"
)
_WEEKDAYS = words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")

_RU_ADJECTIVES = words(
    "старый новый каменный узкий дальний зимний городской речной тихий высокий ржавый синий редкий общий"
)
_RU_PEOPLE = words(
    "мастер садовник учитель историк моряк пекарь инженер геолог архивариус врач часовщик мельник лоцман"
)
_RU_NOUNS = words(
    "мост завод театр рынок канал музей вокзал маяк словарь бюджет проект парк тоннель стадион порт архив дом"
)
_RU_VERBS = words(
    "строит изучает закрывает продаёт рисует чинит открывает осматривает защищает покупает измеряет хвалит"
)
_RU_PLACES = words("у реки|за старым городом|на втором этаже|под мостом|близ маяка|у моря|между холмами|за каналом")
_RU_SYLLABLES = words("бо ва га до ве ли ми но ра са ту фе ко ле зо")
_RU_ENDINGS = words("город лин нск горск поль вичи")


def name(rng: random.Random, *, is_russian: bool = False) -> str:
    """Return the name of a town."""
    syllables, endings = (_RU_SYLLABLES, _RU_ENDINGS) if is_russian else (_SYLLABLES, _ENDINGS)
    return ("".join(rng.choice(syllables) for _ in range(rng.randint(2, 3))) + rng.choice(endings)).capitalize()


def person(rng: random.Random) -> str:
    """Return a given name and a surname."""
    return f"{rng.choice(_GIVEN)} {name(rng)}"


def headline(rng: random.Random, names: Sequence[str], *, is_russian: bool = False) -> str:
    """Return a headline of six to nine words about *names*; it begins with a letter."""
    pick = rng.choice
    if is_russian:
        return (
            f"{pick(names)}: {pick(_RU_ADJECTIVES)} {pick(_RU_PEOPLE)} {pick(_RU_VERBS)}"
            f" {pick(_RU_ADJECTIVES)} {pick(_RU_NOUNS)} {pick(_RU_PLACES)}"
        )
    deed = pick(_DEEDS)
    match rng.randrange(3):
        case 0:
            return f"{pick(names)} {deed} the {pick(ADJECTIVES)} {pick(_THINGS)} {pick(PLACES)}"
        case 1:
            return f"The {pick(ADJECTIVES)} {pick(_THINGS)} of {pick(names)} costs {rng.randint(2, 990)} thousand more"
        case _:
            return f"Why {pick(names)} {deed} {rng.randint(2, 90)} {pick(ADJECTIVES)} {pick(NOUNS)}s"


def paragraphs(rng: random.Random, names: Sequence[str], *, is_russian: bool = False) -> list[str]:
    """Return the text of an article about *names*: 600 to 3,000 characters."""
    length = rng.randint(700, 2700)
    found: list[str] = []
    while sum(map(len, found)) < length:
        found.append(" ".join(_statement(rng, names, is_russian=is_russian) for _ in range(rng.randint(2, 4))))
    return found


def _statement(rng: random.Random, names: Sequence[str], *, is_russian: bool) -> str:
    pick = rng.choice
    if is_russian:
        who = f"{pick(_RU_ADJECTIVES)} {pick(_RU_PEOPLE)}"
        what = f"{pick(_RU_ADJECTIVES)} {pick(_RU_NOUNS)}"
        text = f"{who} из места {name(rng, is_russian=True)} {pick(_RU_VERBS)} {what} {pick(_RU_PLACES)}"
        more = (
            f"; {pick(names)} ждёт {rng.randint(2, 900)} дней",
            f", а {pick(_RU_PEOPLE)} {pick(_RU_VERBS)} {pick(_RU_NOUNS)}",
            "",
        )
        return text[0].upper() + text[1:] + pick(more) + "."
    match rng.randrange(5):
        case 0:
            return f"“{sentence(rng)[:-1]}”, {person(rng)} of {pick(names)} {pick(_SAID)} on {pick(_WEEKDAYS)}."
        case 1:
            return (
                f"The {pick(_THINGS)} in {name(rng)} needs {rng.randint(2, 980)} {pick(ADJECTIVES)} {pick(NOUNS)}s,"
                f" {rng.randint(2, 60)} more than {pick(TIMES)}."
            )
        case 2:
            return f"{person(rng)}, {pick(PEOPLE)}, {pick(_DEEDS)} the {pick(_THINGS)} of {pick(names)}."
        case _:
            return sentence(rng)


def weather(rng: random.Random, town: str, day: str) -> list[str]:
    """Return the weather report of *day*; all reports have the same form and different contents."""
    pick, whole = rng.choice, rng.randint
    sky = words("clear|overcast|grey|changeable|foggy|bright|thundery|hazy")
    wind = words("north north-east east south-east south south-west west north-west")
    hours = words("before dawn|in the morning|towards noon|in the afternoon|in the evening|around midnight")
    return [
        f"This is the weather in {town} and around it on {day}. The sky is {pick(sky)} {pick(hours)} and {pick(sky)}"
        f" {pick(hours)}. Showers are expected {pick(hours)}, with {whole(0, 40)} millimetres of rain by the evening.",
        f"The temperature rises to {whole(-9, 33)} degrees {pick(hours)} and falls to {whole(-19, 20)} degrees"
        f" {pick(hours)}. The wind comes from the {pick(wind)} at {whole(3, 90)} kilometres an hour and turns"
        f" {pick(wind)} {pick(hours)}, when gusts of {whole(30, 130)} kilometres an hour may occur near the coast.",
        f"The pressure of the air is {whole(970, 1040)} hectopascal, its humidity {whole(20, 99)} per cent. The sun"
        f" shines for {whole(0, 15)} hours and {whole(1, 59)} minutes; the water of the {pick(NOUNS)} lake has"
        f" {whole(1, 25)} degrees. The hills beyond {name(rng)} are {pick(sky)}, and the road to {name(rng)} is"
        f" {pick(ADJECTIVES)} {pick(hours)}.",
        f"In the next days the {pick(wind)} wind brings {pick(ADJECTIVES)} air from {name(rng)}. The office of"
        f" {person(rng)} gives the chance of frost as {whole(1, 99)} per cent and that of fog as"
        f" {whole(1, 99)} per cent.",
    ]


def edited(rng: random.Random, text: Sequence[str]) -> list[str]:
    """Return *text* with two to five words replaced, as in a reprint."""
    split = [paragraph.split(" ") for paragraph in text]
    places = [(row, at) for row, line in enumerate(split) for at in range(len(line)) if line[at].isalpha()]
    words_of_text = sorted({split[row][at] for row, at in places})
    for row, at in rng.sample(places, rng.randint(2, 5)):
        split[row][at] = rng.choice([word for word in words_of_text if word != split[row][at]])
    return [" ".join(line) for line in split]


def corrected(rng: random.Random, text: Sequence[str], *, is_russian: bool = False) -> list[str]:
    """Return *text* with one new paragraph and a note about the correction."""
    other = " ".join(_statement(rng, [name(rng, is_russian=is_russian)], is_russian=is_russian) for _ in range(2))
    note = "Исправлено: раньше была ошибка." if is_russian else "Correction: an earlier version was wrong here."
    return [text[0], f"{other} {note}", *text[2:]]


def slug(text: str) -> str:
    """Return *text* as used in addresses, not yet escaped.

    >>> slug("The “old” mill, 12 years later")
    'the-old-mill-12-years-later'
    """
    return "-".join(re.findall(r"\w+", text.lower()))
