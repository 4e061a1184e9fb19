"""Reads the link prior, the weights with which ORDER=learnt begins: those that come with the project, or a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crawlers.errors import ConfigError
from crawlers.files.text_file import quoted, read_text
from crawlers.ranking.link_features import KINDS, MAX_ETA, OF_LINKS, STEM_CHARS, TEXTS, is_word, shipped_weights

if TYPE_CHECKING:
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.ranking.link_features import LinkPrior

LINK_PRIOR = "LINK_PRIOR"
WORDS = SHIPPED, NO_WEIGHTS = "shipped", "none"  # anything else is a file
MOST_BYTES = 1_000_000
MOST_WEIGHTS = 10_000  # fifty times as many as `scrapy lab learn` writes; each crawl keeps its own in the store
_MAKE_ANOTHER = "make another file with scrapy lab learn"


def chosen_link_prior(settings: SettingValues) -> LinkPrior:
    """Return the weights that LINK_PRIOR names; raises `ConfigError`."""
    value = settings.get(LINK_PRIOR)
    if not value:
        raise ConfigError(f"{LINK_PRIOR} is empty; write {SHIPPED}, {NO_WEIGHTS} or the name of a file")
    if value == NO_WEIGHTS:
        return {}
    if value == SHIPPED:
        shipped: LinkPrior = shipped_weights(OF_LINKS)
        return shipped
    return read_link_prior(value)


def read_link_prior(path: str) -> LinkPrior:
    """Return the weights in the file *path*. Raises `ConfigError` if they are not ones, or too many."""
    try:
        return _read(path)
    except ConfigError as error:
        raise ConfigError(f"LINK_PRIOR={path}: {error}") from error


def _read(path: str) -> LinkPrior:
    try:
        found = json.loads(read_text(path, MOST_BYTES, _MAKE_ANOTHER))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not JSON; {_MAKE_ANOTHER}") from error
    if not isinstance(found, dict) or not all(isinstance(texts, dict) for texts in found.values()):
        raise ConfigError(f'expected weights by kind and text, as {{"anchor": {{"news": 0.5}}}}; {_MAKE_ANOTHER}')
    if unknown := [kind for kind in found if kind not in KINDS]:
        raise ConfigError(f"{quoted(unknown[0])} is not a kind of weights; expected {', '.join(KINDS)}")
    number = sum(map(len, found.values()))
    if number > MOST_WEIGHTS:
        raise ConfigError(f"{number:,} weights are too many; keep the {MOST_WEIGHTS:,} largest")
    for kind, texts in found.items():
        for text, weight in texts.items():
            _check(kind, text, weight)
    return {kind: {text: float(weight) for text, weight in texts.items()} for kind, texts in found.items()}


def _check(kind: str, text: str, weight: Any) -> None:
    if kind in TEXTS:
        if text not in TEXTS[kind]:
            raise ConfigError(f"{quoted(text)} of the kind {kind} occurs nowhere; expected {', '.join(TEXTS[kind])}")
    elif not is_word(text):
        raise ConfigError(
            f"{quoted(text)} of the kind {kind} occurs nowhere; write the first letters of words, 2 to {STEM_CHARS}"
        )
    is_number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
    if not is_number or not abs(weight) <= MAX_ETA:  # NaN neither
        raise ConfigError(f"the weight of {quoted(text)} must be a number from {-MAX_ETA:g} to {MAX_ETA:g}")
