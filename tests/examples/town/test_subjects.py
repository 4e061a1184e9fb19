"""The texts of the town belong to their subject and language."""

from __future__ import annotations

import pytest

from examples.town.subjects import SUBJECTS, paragraph
from examples.webs.prose import rng_of


@pytest.mark.parametrize(("subject", "lang"), SUBJECTS)
def test_paragraph_has_words_of_its_subject_and_is_constant(subject, lang):
    text = paragraph(rng_of("x"), subject, lang, 3)
    assert text == paragraph(rng_of("x"), subject, lang, 3)
    assert sum(term.lower() in text.lower() for term in SUBJECTS[subject, lang].terms) > 1
