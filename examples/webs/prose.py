"""Realistic sentences and titles for the demo web, each a pure function of its seed."""

from __future__ import annotations

import random


def words(text: str) -> tuple[str, ...]:
    """Return the words of *text*, separated by bars if it has any, otherwise by spaces."""
    return tuple(text.split("|") if "|" in text else text.split())


PEOPLE = words(
    "archivist baker beekeeper carpenter clockmaker cook ferryman gardener geologist glazier librarian"
    " locksmith mapmaker miller nurse organist potter printer sailor shepherd smith tailor teacher weaver"
)
NOUNS = words(
    "almanac anchor atlas barometer bell bridge candle canal comet compass copper dictionary engine fern"
    " flute glacier harbour heron honey island kettle ladder lantern lichen loom map mill mirror moss oak"
    " orchard oven owl paper pendulum pigment plough pump quarry rain reed river root salt seed shell silk"
    " spring stone tide timber tower valley violin wax well wheel willow window wool"
)
ADJECTIVES = words(
    "amber ancient bitter blue borrowed brass broken careful common cold curious deep dry early eastern"
    " empty forgotten gentle green heavy hollow late little long low narrow northern old open pale patient"
    " plain quiet red rough round salted sharp silver slow small southern steep thin upper warm wild"
)
VERBS = words(
    "admires borrows buries carries counts describes draws finds follows guards hides keeps lends measures"
    " mends names paints praises repairs sells shows sketches sorts studies tests turns waits-for weighs"
)
PLACES = words(
    "behind the mill|in the market|near the northern gate|on the second floor|under the bridge|by the sea"
    "|at the edge of the wood|above the old town|between two hills|in a borrowed room|beyond the river"
    "|along the canal|next to the bakery|in the last house|inside the tower"
)
TIMES = words(
    "every morning|after the rain|in early spring|before the harvest|once a year|on Thursdays|at low tide"
    "|when the wind turns|long after midnight|for the third time|during the fair|as in 1874"
)

# Titles that may break an export, a log line or a web page: markup, control characters, scripts, length.
ODD_TITLES = (
    "Cats & <dogs> in \"double\" and 'single' quotes",
    "Why 5 < 7 && 7 > 5 </title>",
    "A bell\x07, an escape\x1b and a backspace\x08",
    "Owls by night \U0001f989\U0001f319",
    "ספר הנהרות והגשרים",
    "كتاب الأنهار والجسور",
    "河流与桥梁的历史",
    "Реки и мосты",
    "A tab\tand\na new line",
    "Zero\u200bwidth, an override \u202e and its end \u202c",
    "]]> <!-- &amp; --> ;,|",
    "=1+1",
    "Very " + "long, " * 60 + "title",
)


def rng_of(seed: str) -> random.Random:
    """Return a random number generator that depends only on *seed*, in every process."""
    return random.Random(seed)  # noqa: S311  # texts, not secrets


def sentence(rng: random.Random) -> str:
    """Return one sentence of about ten words.

    >>> sentence(rng_of("x")) == sentence(rng_of("x"))
    True
    """
    pick = rng.choice
    who = f"{pick(ADJECTIVES)} {pick(PEOPLE)}"
    what = f"{pick(ADJECTIVES)} {pick(NOUNS)}"
    verb = pick(VERBS).replace("-", " ")
    match rng.randrange(4):
        case 0:
            text = f"the {who} {verb} the {what} {pick(PLACES)}"
        case 1:
            text = f"{pick(TIMES)} the {who} {verb} a part of the {what}"
        case 2:
            text = f"{pick(PLACES)} the {what} and the {pick(NOUNS)} belong to the {who}"
        case _:
            text = f"no {pick(NOUNS)} is like the {what} that the {who} {verb} {pick(TIMES)}"
    return text[0].upper() + text[1:] + "."


def paragraphs(seed: str, count: int = 3) -> str:
    """Return *count* HTML paragraphs of three to six sentences."""
    rng = rng_of(seed)
    return "\n".join("<p>" + " ".join(sentence(rng) for _ in range(rng.randint(3, 6))) + "</p>" for _ in range(count))


def title(seed: str, number: int) -> str:
    """Return the (unescaped) title of page *number*; every sixth is unusual, see `ODD_TITLES`."""
    if number % 6 == 5:
        return f"{ODD_TITLES[number // 6 % len(ODD_TITLES)]} {number}"
    rng = rng_of("title " + seed)
    first, second = rng.sample(NOUNS, 2)
    return f"The {rng.choice(ADJECTIVES)} {first} and the {second}, no. {number}"
