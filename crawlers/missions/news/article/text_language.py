"""Identifies the language of an article by its text, because many templates say "en" in any language."""

from __future__ import annotations

from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

MIN_CHARS = 100  # of a text whose language is identified
MAX_CHARS = 1_000  # that are read; 3,000 gave no other language on 294 pages, and took three times as long

_LIKELY = 0.5  # probability: of related languages one is more likely than the others together
_DEFAULT = ("", "en")  # what templates say if nobody changed them


def language_of(declared: str, text: str) -> str:
    """Return the language (ISO 639-1) of *text*, where the page says that it is *declared*, or says nothing.

    A declared language other than English is believed; so is English unless the text is in another language.
    """
    if declared not in _DEFAULT or len(text) < MIN_CHARS:
        return declared
    language, probability = _identifier().classify(text[:MAX_CHARS])
    return str(language) if probability >= _LIKELY and len(language) == 2 else declared


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
