"""The well-behaved site: a deep tree of sections, with breadcrumbs and books with chapters.

Pages 0 … 160 * scale - 1 form a tree with three children each; some leaves are books of ten chapters, of which
only the first is linked from the book. "See also" links put pages on a lower level than in the tree.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from examples.webs.pages import link, links, missing, page
from examples.webs.prose import NOUNS, paragraphs, rng_of, title

if TYPE_CHECKING:
    from examples.webs.pages import Web, WebResponse

CHILDREN = 3
CHAPTERS = 10


def _tree_size(web: Web) -> int:
    return 160 * web.scale


def _is_book(web: Web, number: int) -> bool:
    after = _tree_size(web) - 1 - number
    return after % 7 == 0 and after < 7 * 4 * web.scale


def path_of(web: Web, number: int) -> str:
    """Return the path of page *number* of the tree: a folder if it has children, otherwise a file.

    >>> from examples.webs.pages import Web
    >>> path_of(Web(), 9)
    '/heron-2/kettle-9/'
    """
    if number == 0:
        return "/"
    names, up = [], number
    while up:
        names.append(f"{NOUNS[(up * 9 - 1) % len(NOUNS)]}-{up}")
        up = (up - 1) // CHILDREN
    return "/" + "/".join(reversed(names)) + ("/" if number * CHILDREN + 1 < _tree_size(web) else ".html")


def _number_of(web: Web, path: str) -> int | None:
    if path == "/":
        return 0
    found = re.fullmatch(r"(?:/[a-z]+-\d{1,9})*/[a-z]+-(\d{1,9})(?:/|\.html)", path)
    number = int(found[1]) if found else -1
    return number if 0 < number < _tree_size(web) and path_of(web, number) == path else None


def _trail(web: Web, number: int) -> str:
    ups = [number]
    while ups[-1]:
        ups.append((ups[-1] - 1) // CHILDREN)
    return " / ".join(link(path_of(web, up), f"Section {up}") for up in reversed(ups))


def _section(web: Web, number: int) -> WebResponse:
    path, size = path_of(web, number), _tree_size(web)
    first = number * CHILDREN + 1
    parts = [paragraphs(f"library {path}", 2 + number % 3)]
    parts.append(links(path_of(web, child) for child in range(first, min(first + CHILDREN, size))))
    if _is_book(web, number):
        parts.append(link(path.removesuffix(".html") + "/chapter-1.html", "Read from the beginning"))
    if number % 5 == 2:
        parts.append("See also " + link(path_of(web, rng_of(f"see {number}").randrange(size)), "another shelf"))
    turns = [(number - 1, "previous"), (number + 1, "next")]
    parts += [link(path_of(web, to), text) for to, text in turns if 0 <= to < size and number]
    name = "The library" if number == 0 else title(f"library {path}", number)
    return page(web, "library", path, name, "\n".join(parts), trail=_trail(web, number), hosts=number % 9 == 4)


def _chapter(web: Web, path: str, book: str, chapter: int) -> WebResponse:
    number = _number_of(web, book)
    if number is None or not _is_book(web, number) or not 1 <= chapter <= CHAPTERS:
        return missing()
    parts = [paragraphs(f"library {path}", 4)]
    # Relative links on purpose, one with a dot segment: a book contains links to its own folder only.
    parts += [link(f"chapter-{chapter - 1}.html", "back")] if chapter > 1 else []
    parts += [link(f"./chapter-{chapter + 1}.html", "turn the page")] if chapter < CHAPTERS else []
    name = f"Chapter {chapter} of {title(f'library {book}', number)}"
    return page(web, "library", path, name, "\n".join(parts), trail=_trail(web, number))


def respond(web: Web, path: str, query: str) -> WebResponse:
    """Return the library's response; the query is ignored, as by file servers."""
    found = re.fullmatch(r"(.+)/chapter-(\d{1,3})\.html", path)
    if found:
        return _chapter(web, path, found[1] + ".html", int(found[2]))
    number = _number_of(web, path)
    return missing() if number is None else _section(web, number)
