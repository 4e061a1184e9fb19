"""Extracts author names: from bylines such as "By Ann Lee and Bo Ek", and from the lines near the headline."""

from __future__ import annotations

import re
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from lxml import etree

from crawlers.missions.news.article.text_blocks import COMBINING_MARKS, letters_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

# Words that begin a byline whatever follows.
_PHRASES = r"""
by|view all posts by
|(?:an? )?(?:analysis|opinion|comment|commentary|review|story|report|reporting|interview|words|text|photos?
|photography|video|column|editorial|contributed|posted|published|written|reported|article|essay|research|updated
|produced|compiled|created) by
|(?:eine? )?(?:gastbeitrag|gastkommentar|kommentar|analyse|bericht|interview|kolumne|reportage|rezension|beitrag
|geschrieben|verfasst|veröffentlicht|text|artikel) von
|[^\W\d]+ (?:par|por|door|oleh)|(?:a cura|scritto|testo|articolo) di|(?:scris|articol|text) de
|(?:skrevet|skriven|skrivet|text|tekst) (?:av|af)|pewarta|viết bởi|γράφ(?:ει|ουν)(?: ο| η| οι)?|írták|írta|készítette
|nap[ií]sal[ai]?|zpracoval[ai]?|napisał[ai]?|oprac\.|подготовил[аи]?|написал[аи]?|підготува(?:в|ла|ли)|بقلم|به قلم
|كتبها|كتبه|كتبت|كتب|מאת|লিখেছেন|(?:เขียน|รายงาน|เรียบเรียง|เรื่อง)?โดย
"""

# Prepositions and articles of languages where they begin bylines; some also begin names: De Vries, Von Trapp.
_PREPOSITIONS = "von|de|par|por|per|di|da|av|af|door|przez|oleh|od|от|від|του|της|των"


def _alternatives(words: str) -> str:
    return "".join(line.strip() for line in words.strip().splitlines())


_SPACE = r"(?:\s*[:：]\s*|\s+|\Z)"
BEFORE = re.compile(
    rf"\A(?:(?:{_alternatives(_PHRASES)}){_SPACE}|(?:{_PREPOSITIONS})(?:\s*[:：]\s*|\s+(?=\S+\s+\S))"
    rf"|(?-i:{_PREPOSITIONS})\s+(?=\S))",
    re.I,
)
_OFFICE = re.compile(r"\b(?:editor|correspondent|reporter|writer|staff|desk|newsroom|redaktion|admin)s?\b|\d", re.I)
# What stands beside an office; beside other words, Staff, Writer and Desk are names of persons.
_DEPARTMENTS = frozenset(
    "business chief city editorial foreign national news online our own political politics sports the web".split()  # noqa: SIM905
)


MAX_ELEMENTS = 20_000  # of a page, that are looked at
MAX_LINES = 3_000  # that are kept

_MAX_LINE_CHARS = 150  # of a line
_BEFORE = 2  # times as far as behind the headline: there are the dates of the issue, and other articles
_MIN_SHARE = 0.5  # of a heading or title in the other one
_HEADINGS = frozenset(["h1", "h2", "h3"])
_UNRELATED = frozenset("script style noscript template nav footer select iframe svg".split())  # noqa: SIM905


class PageLine(NamedTuple):
    """The text of one element without its children."""

    position: int  # number of the element
    node: HtmlElement
    text: str
    names: str  # class, id and other names of the element


class PageLines(NamedTuple):
    """The lines of a page, and the positions of its headlines."""

    lines: tuple[PageLine, ...]
    headings: tuple[int, ...]

    def distance(self, line: PageLine) -> int:
        """Return the number of elements between *line* and the nearest headline; 0 if the page has no headline."""
        at = line.position
        return min((at - one if at >= one else _BEFORE * (one - at) for one in self.headings), default=0)


def page_lines(tree: HtmlElement, title: str) -> PageLines:
    """Return the lines of the page *tree* that are short, without those of navigation and footers.

    The headlines are those with the *title* of the article; if there is none, all h1 elements.
    """
    wanted = letters_of(title)
    titles: list[int] = []
    headings: list[int] = []
    lines: list[PageLine] = []
    walk = etree.iterwalk(tree, events=("start",))
    for position, (_, node) in enumerate(walk):
        if position > MAX_ELEMENTS or len(lines) > MAX_LINES:
            break
        if node.tag in _UNRELATED:
            walk.skip_subtree()
            continue
        if node.tag in _HEADINGS:
            if node.tag == "h1":
                headings.append(position)
            if _is_title(letters_of(node.text_content()), wanted):
                titles.append(position)
        text = " ".join("".join([node.text or "", *(child.tail or "" for child in node)]).split())
        if (text or node.tag == "time") and len(text) <= _MAX_LINE_CHARS:
            names = [node.get(name) for name in ("class", "id", "itemprop", "rel", "href")]
            lines.append(PageLine(position, node, text, " ".join(filter(None, names))))
    return PageLines(tuple(lines), tuple(titles or headings))


def _is_title(heading: str, title: str) -> bool:
    """Return whether a heading is the title, with or without a kicker; both in letters."""
    shorter, longer = sorted((heading, title), key=len)
    return shorter in longer and len(shorter) >= _MIN_SHARE * len(longer) > 0


MAX_WORDS = 4  # of a name, without particles
MAX_READ = 30  # lines that may be bylines

_MAX_CHARS = 120  # of a byline
_NEAR = 60  # elements between the headline and its byline
_NAMED = re.compile(r"author|byline|\bautor|verfasser|auteur|redacteur|writer|contributor|journalist", re.I)
_OTHER = re.compile(r"comment|related|description|image|photo", re.I)
_NAME = re.compile(rf"[^\W\d_][\w.'’ʼ{COMBINING_MARKS}-]*")
_PARTICLES = frozenset(
    "al bin da das de de' del della den der di do dos du el i la le ten ter van von und y e zu zur".split()  # noqa: SIM905
)


def shown_authors(page: PageLines) -> Iterator[str]:
    """Return the bylines that the *page* shows, the nearest to a headline first; none on a page without headlines."""
    if not page.headings:
        return iter(())
    following = (*page.lines[1:], *page.lines[-1:])
    lines = ((page.distance(line), line, after) for line, after in zip(page.lines, following, strict=True))
    near = sorted((one for one in lines if one[0] <= _NEAR), key=lambda one: one[0])
    return islice(filter(None, (_byline(line, after) for _, line, after in near)), MAX_READ)


def _byline(line: PageLine, following: PageLine) -> str:
    """Return the byline in *line*, or in the *following* one if this only says "By"; empty if it is none."""
    is_named = _NAMED.search(line.names) is not None and not _OTHER.search(line.names)
    if not (is_named or BEFORE.match(line.text)):
        return ""
    if next(line.node.iterancestors("figure", "figcaption"), None) is not None:
        return ""  # of a picture
    text = _whole(line)
    if BEFORE.fullmatch(text):
        text = _whole(following)
    return text if len(text) <= _MAX_CHARS else ""


def _whole(line: PageLine) -> str:
    return " ".join(line.node.text_content()[: 2 * _MAX_CHARS].split())


def looks_like_name(text: str) -> bool:
    """Return whether *text* may be the name of a person, in any script.

    >>> looks_like_name("Ursula von der Leyen"), looks_like_name("Storm over the sea"), looks_like_name("山田太郎")
    (True, False, True)
    """
    words = text.split()
    if not 1 <= len([word for word in words if word not in _PARTICLES]) <= MAX_WORDS or any(
        _NAME.fullmatch(word) is None for word in words
    ):
        return False
    if text.upper() == text.lower():  # a script without capital letters
        return len(text) <= 30
    return len(words) > 1 and all(_begins_with_capital(word) or word in _PARTICLES for word in words)


def _begins_with_capital(word: str) -> bool:
    return word.removeprefix("d'").removeprefix("d’").removeprefix("l'")[:1].isupper()


MAX_AUTHORS = 20
_MAX_NAME = 80  # letters; longer ones are sentences
_MAX_LINE = 2_000  # letters that are read: twenty names are shorter

_TAG = re.compile(r"<[^>]*>")
_TAIL = re.compile(
    r"(?<=\S)\s(?:(?:for|of|in|from|at|[Ss]pecial to)(?:\s(?:the\s)?[^\W\d_a-z]\S*)+|(?i:staff (?:writer|reporter)"
    r"|(?:chief )?(?:correspondent|reporter|contributor)))\Z"
)
_NO_NAME = re.compile(r"\S*@\S*|https?://\S*|www\.\S*\s|\swww\.\S*", re.I)
_AND = r"(?:and|und|et|og|och|en|&|и|та|і|ja|ve|dan|και|és|și|và|และ|y|و)\s+"
_BETWEEN = re.compile(rf"\s*[;|/／,、，،•·\n(（\[【]\s*(?:{_AND})?|\s+[–—-]\s+|\s+{_AND}", re.I)
_EDGES = " \t,:;-–—|/•·*\"'()[]（）【】\u00a0"


def authors(
    sources: Iterable[Iterable[str]],
    site_names: Iterable[str],
    url: str = "",
    shown: Iterable[str] = (),
) -> tuple[str, ...]:
    """Return the persons in the first of *sources* that names any, without duplicates, at most `MAX_AUTHORS`.

    *shown* are bylines of the page, which are read if no source names a person. The site (one of *site_names*, or the
    host of *url*) or its staff is the author only if there is no person.

    >>> authors([["The Example"], ["By Ann Lee and Bo Ek, PhD", "https://example.org/ann", "Ann Lee"]], ["The Example"])
    ('Ann Lee', 'Bo Ek')
    >>> authors([["Staff Writer"]], [], shown=["Analysis by Jane Doe, Political Editor"])
    ('Jane Doe',)
    """
    sites = {letters_of(name) for name in site_names}
    host = letters_of((urlsplit(url).hostname or "").removeprefix("www."))

    def is_nobody(name: str) -> bool:
        rest = _OFFICE.sub("", name)
        is_site = any(one in sites or host.startswith(one) for one in map(letters_of, (name, rest)))
        return is_site or (rest != name and not (looks_like_name(name) and set(rest.lower().split()) - _DEPARTMENTS))

    anybody: tuple[str, ...] = ()
    for declared in sources:
        names = _names(declared)
        persons = [name for name in names if not is_nobody(name)]
        if any(map(looks_like_name, persons)):
            return tuple(persons[:MAX_AUTHORS])
        anybody = anybody or tuple(names[:1])
    guessed: tuple[str, ...] = ()
    for line in shown:
        names = _names([line])
        if names and all(looks_like_name(name) and not is_nobody(name) for name in names):
            return tuple(names[:MAX_AUTHORS])
        guessed = tuple(name for name in names[:MAX_AUTHORS] if len(name.split()) <= MAX_WORDS)
    return anybody or guessed


def _names(declared: Iterable[str]) -> list[str]:
    """Return the distinct names in *declared*."""
    found: dict[str, str] = {}
    for line in declared:
        first = True
        text = _NO_NAME.sub(" ", _TAG.sub(" ", unescape(line[:_MAX_LINE])))
        for part in _BETWEEN.split(" ".join(text.split())):
            name = BEFORE.sub("", part.strip(_EDGES)).strip(_EDGES)
            name = person if looks_like_name(person := _TAIL.sub("", name)) else name
            letters = letters_of(name)
            # What stands behind a name is often what the person does, and where.
            is_role = not first and (_OFFICE.search(part) or not looks_like_name(name))
            if letters and len(name) <= _MAX_NAME and not is_role:
                found.setdefault(letters, name)
                first = False
    return list(found.values())
