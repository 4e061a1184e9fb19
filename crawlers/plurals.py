"""Chooses the singular or the plural of a noun, for messages."""


def plural(number: float, noun: str) -> str:
    """Return *noun* as it is written after *number*; only for nouns whose plural ends with s.

    >>> plural(1, "page"), plural(0, "page"), plural(2, "page")
    ('page', 'pages', 'pages')
    """
    return noun if number == 1 else f"{noun}s"


def counted(number: int, noun: str) -> str:
    """Return *number* and *noun* in its form.

    >>> counted(1, "page"), counted(1234, "page")
    ('1 page', '1,234 pages')
    """
    return f"{number:,} {plural(number, noun)}"
