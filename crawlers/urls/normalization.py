"""The normal form of URLs, which defines which URL variants are the same page.

The steps are those of RCCrawler [1]_ and BeeBot [2]_. The functions here only handle text; call `resolution.normalize`.

References
----------
.. [1] Pechnikov, Lankin, Development of a program for collection of website structure data, section on URL
   normalisation.
.. [2] Pechnikov, Chernobrovkin, Adaptive crawler for the search and gathering of external hyperlinks, section 2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import can_ada

from crawlers.errors import ConfigError
from crawlers.options import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_DEFAULT_PORT = {"http": 80, "https": 443}
_LOWER_ESCAPE = re.compile(r"%(?:[a-f][0-9a-fA-F]|[0-9A-F][a-f])")
# Escapes of letters, digits and -._~ (RFC 3986, 2.3). After an incomplete escape, such as the first two characters of
# `%4%31`, their decoding would make another escape.
_UNRESERVED = re.compile(r"(?<!%)(?<!%[0-9a-fA-F])%(?:2[DdEe]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9AaEe])")
_SLASHES = re.compile(r"/{2,}")
_HEX = re.compile(r"[0-9a-fA-F]{16,}")
# URLs in which the standard's parser only changes the case of scheme and host, the port and the dot segments.
_PLAIN = re.compile(
    r"(https?)://([a-z0-9.-]+)(?::(\d+))?((?:/[!$-&(-;=@-Z_a-z~]*)?)((?:[?#][!#-&(-;=?-Z_a-z~]*)?)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Normalization:
    """The steps of the normal form.

    RCCrawler uses all but `decode_unreserved`, `lower_case` and `drop_final_slash`; BeeBot the last two.

    Links are joined by the WHATWG standard first, which includes the first, second and fifth step: switching those off
    only affects `normalize`, and only plain ASCII URLs. A name in *ignored_parameters* may begin or end with `*`; one
    that ends with `=hex` is ignored only if the value has 16 or more hexadecimal digits; case does not matter. The
    same names are dropped as path parameters, as in `/page;jsessionid=1`. *ip_names* maps hosts in the notation of URLs
    (`[::1]` in brackets) to names.
    """

    lower_case_host: bool = True
    drop_default_port: bool = True
    upper_case_escapes: bool = True
    decode_unreserved: bool = True  # RFC 3986, 6.2.2.2
    add_trailing_slash: bool = True  # if the last segment has no dot; it may be a different page
    remove_dot_segments: bool = True
    drop_fragment: bool = True
    merge_slashes: bool = True
    sort_parameters: bool = True
    drop_empty_query: bool = True
    drop_empty_parameters: bool = True  # `a=`
    drop_valueless_parameters: bool = False  # `a`, which many sites have as the number or the name of a page
    lower_case: bool = False  # the whole URL
    drop_final_slash: bool = False  # of all paths but the root; overrides add_trailing_slash
    ip_names: Mapping[str, str] = field(default_factory=dict, hash=False)
    ignored_parameters: tuple[str, ...] = tuple(SETTINGS["URL_IGNORED_PARAMETERS"].default)
    _exact: frozenset[str] = field(init=False, repr=False, compare=False)
    _hex: frozenset[str] = field(init=False, repr=False, compare=False)
    _prefixes: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _suffixes: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = [name.lower() for name in self.ignored_parameters if name]
        for attribute, value in (
            ("_hex", frozenset(name[:-4] for name in names if name.endswith("=hex"))),
            ("_prefixes", tuple(name[:-1] for name in names if name.endswith("*"))),
            ("_suffixes", tuple(name[1:] for name in names if name.startswith("*"))),
            ("_exact", frozenset(name for name in names if "*" not in name and not name.endswith("=hex"))),
        ):
            object.__setattr__(self, attribute, value)

    def ignores(self, parameter: str) -> bool:
        """Return whether *parameter*, `name=value` or `name`, does not identify the page."""
        name, _, value = parameter.partition("=")
        name = name.lower()
        if name in self._exact or name.startswith(self._prefixes) or name.endswith(self._suffixes):
            return True
        return name in self._hex and _HEX.fullmatch(value) is not None


_STEPS = {one.name: bool(one.default) for one in fields(Normalization) if one.init and one.type == "bool"}
PROFILES = {  # the steps of each
    "default": _STEPS,
    "rccrawler": {name: name not in ("decode_unreserved", "lower_case", "drop_final_slash") for name in _STEPS},
    "beebot": _STEPS | {"lower_case": True, "drop_final_slash": True},
}
STEPS = (*PROFILES, *_STEPS)  # what may be named


def named_steps(names: Iterable[str]) -> dict[str, bool]:
    """Return which steps are on by URL_NORMALIZATION: those of a profile and other steps, without those behind `-`.

    Raises `ConfigError` for an unknown name.

    >>> steps = named_steps(["beebot", "-merge_slashes"])
    >>> steps["lower_case"], steps["merge_slashes"], named_steps(["lower_case"])["sort_parameters"]
    (True, False, False)
    """
    steps = dict.fromkeys(_STEPS, False)
    for name in names:
        if name in PROFILES:
            steps |= {step: True for step, is_on in PROFILES[name].items() if is_on}
        elif (step := name.removeprefix("-")) in steps:
            steps[step] = step == name
        else:
            raise ConfigError(f"URL_NORMALIZATION={name[:60]!r} is unknown; choose out of: {', '.join(STEPS)}")
    return steps


def key_form(url: str, options: Normalization) -> str:
    """Return the normal form of *url*, which must be serialised by the standard's parser."""
    url, mark, fragment = url.partition("#")
    head, question, query = url.partition("?")
    start = head.find("/", 8)  # after the shortest scheme and host, http://h
    site, path = head[:start], head[start:]
    if options.ip_names:
        site = _named(site, options.ip_names)
    if "%" in path:
        path = _plain_escapes(path, options)
    if ";" in path:
        path = _without_ignored(path, options)
    if "//" in path and options.merge_slashes:
        path = _SLASHES.sub("/", path)
    if options.add_trailing_slash:
        last = path[path.rfind("/") + 1 :]
        if last and "." not in last:
            path += "/"
    if options.drop_final_slash:
        path = path.rstrip("/") or "/"
    if query:
        if "%" in query:
            query = _plain_escapes(query, options)
        parameters = query.split("&")
        if options.drop_empty_parameters:
            parameters = [pair for pair in parameters if pair.find("=") != len(pair) - 1]  # `a=`, and the empty text
        if options.drop_valueless_parameters:
            parameters = [pair for pair in parameters if "=" in pair]
        parameters = [pair for pair in parameters if not options.ignores(pair)]
        if options.sort_parameters:
            parameters.sort()
        query = "&".join(parameters)
    key = f"{site}{path}"
    if query or (question and not options.drop_empty_query):
        key = f"{key}?{query}"
    if mark and not options.drop_fragment:
        key = f"{key}#{fragment}"
    return key.lower() if options.lower_case else key


def _plain_escapes(text: str, options: Normalization) -> str:
    if options.decode_unreserved:
        text = _UNRESERVED.sub(_decoded, text)
    return _LOWER_ESCAPE.sub(_upper, text) if options.upper_case_escapes else text


def _decoded(match: re.Match[str]) -> str:
    return chr(int(match[0][1:], 16))


def _upper(match: re.Match[str]) -> str:
    return match[0].upper()


def _named(site: str, ip_names: Mapping[str, str]) -> str:
    host = str(can_ada.parse(site).hostname)
    before, _, port = site.lower().rpartition(host)
    return f"{before}{ip_names.get(host, host).lower()}{port}"


def _without_ignored(path: str, options: Normalization) -> str:
    segments = []
    for segment in path.split("/"):
        name, *parameters = segment.split(";")
        segments.append(";".join([name, *(pair for pair in parameters if not options.ignores(pair))]))
    shorter = "/".join(segments)
    if shorter != path and options.remove_dot_segments:
        return _without_dots(shorter)  # `..;jsessionid=1` is not a dot segment, but `..` is
    return shorter


def _without_dots(path: str) -> str:
    return str(can_ada.parse(f"http://h{path}").pathname)


def as_written(url: str, standard: str, options: Normalization) -> str:
    """Return *url* without those steps of the standard's parser, whose result is *standard*, that *options* disable."""
    match = _PLAIN.fullmatch(url)
    if not match or (options.lower_case_host and options.drop_default_port and options.remove_dot_segments):
        return standard
    scheme, host, port, path, rest = match.groups()
    if options.drop_default_port and port and int(port) == _DEFAULT_PORT[scheme.lower()]:
        port = None
    if options.lower_case_host:
        scheme, host = scheme.lower(), host.lower()
    path = path or "/"
    if options.remove_dot_segments:
        path = _without_dots(path)
    return f"{scheme}://{host}{':' if port else ''}{port or ''}{path}{rest}"
