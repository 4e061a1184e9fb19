"""The shape of a URL: is it grown by a loop, and which other URLs does it look like?"""

from __future__ import annotations

import re
from collections import Counter

_DIGITS = re.compile(r"\d+")
_RUNS = re.compile(r"[a-z]+|[A-Z]+|[0-9]+")
_TOKEN = re.compile(r"[0-9A-Za-z_-]{8,}")
_HEX = re.compile(r"[0-9a-fA-F-]{8,}")
_WORD = re.compile(r"[A-Za-z][A-Za-z_.-]{0,23}")


def shape_reason(
    url: str, *, repeats: int = 3, segments: int = 25, parameters: int = 20, length: int = 2048
) -> str | None:
    """Return why the absolute *url* looks grown by a loop, or None.

    Too much is: a segment of the path more than *repeats* times, more than *segments* segments, more than
    *parameters* parameters, more than *length* characters.

    >>> shape_reason("http://example.com/a/b/a/b/a/b/a/b/")
    'trap: a segment stands 4 times in the path'

    Notes
    -----
    Heritrix has PathologicalPathDecideRule (a run of segments 3 times in a row) and
    TooManyPathSegmentsDecideRule (20 segments); Nutch's regex-urlfilter.txt drops a segment that comes 3
    times with others between. Ours let one more pass, since a dropped page is missed and a fetched one is
    not. Sitemaps.org allows URLs of up to 2,048 characters.
    """
    if len(url) > length:
        return f"trap: the URL is longer than {length} characters"
    path, _, query = url.partition("?")
    if query and query.count("&") >= parameters:
        return f"trap: the URL has more than {parameters} parameters"
    slashes = path.count("/") - 2  # those of http://
    if slashes <= repeats:
        return None
    parts = [part for part in path.split("/")[3:] if part]
    if len(parts) > segments:
        return f"trap: the path has more than {segments} segments"
    if len(parts) - len(set(parts)) >= repeats:
        most = max(Counter(parts).values())
        if most > repeats:
            return f"trap: a segment stands {most} times in the path"
    return None


def url_pattern(url: str) -> str:
    """Return the path and query of *url* with what counts or identifies folded; parameters in order.

    Digits become `#`; what looks like the id of a session `~`; values of parameters that are neither of
    these nor a plain word `*`.

    >>> url_pattern("http://example.com/cal2/?y=2024&m=5&view=month&sid=9f86d081884c7d65")
    '/cal#/?m=#&sid=~&view=month&y=#'
    """
    address, _, query = url.partition("?")
    path = "/".join(map(_folded_segment, address.split("/")[3:]))
    if not query:
        return f"/{path}"
    return f"/{path}?{'&'.join(sorted(map(_folded_parameter, query.split('&'))))}"


def broad_patterns(pattern: str) -> tuple[str, ...]:
    """Return the wider patterns that *pattern*, from `url_pattern`, belongs to: none, one or two.

    One has any values for its parameters; the other any path, and those parameters whose values look like
    ids of sessions: such a parameter is put into all links of a site.

    >>> broad_patterns("/b?sid=~&view=month")
    ('/b?sid=*&view=*', '*?sid=~')
    """
    path, _, query = pattern.partition("?")
    parameters = query.split("&") if query else []
    if all(one.endswith("=#") for one in parameters):
        return ()
    tokens = [one for one in parameters if one.endswith("=~")]
    any_values = f"{path}?{'&'.join(one.partition('=')[0] + '=*' for one in parameters)}"
    return (any_values, f"*?{'&'.join(tokens)}") if tokens else (any_values,)


def _folded_segment(segment: str) -> str:
    return "~" if _is_token(segment) else _DIGITS.sub("#", segment)


def _folded_parameter(parameter: str) -> str:
    name, equals, value = parameter.partition("=")
    name = _DIGITS.sub("#", name)  # filter[17]=on
    if not equals:
        return name
    if value.isdigit():
        return f"{name}=#"
    if _is_token(value):
        return f"{name}=~"
    return f"{name}={value}" if _WORD.fullmatch(value) else f"{name}=*"


def _is_token(text: str) -> bool:
    """Whether *text* looks drawn by lot: hexadecimal, or small, large letters and digits in turn."""
    if not _TOKEN.fullmatch(text) or text.upper() == text.lower():  # 2024-05-01 is none
        return False
    if _HEX.fullmatch(text) and _DIGITS.search(text):
        return True
    return len(_RUNS.findall(text)) >= 5
