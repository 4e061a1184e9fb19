"""The texts of the town belong to their subject and language."""

from __future__ import annotations

import pytest

from examples.town.subjects import SUBJECTS, paragraph, sentence
from examples.webs.prose import rng_of


@pytest.mark.parametrize(("subject", "lang"), SUBJECTS)
def test_sentence_contains_the_given_term(subject, lang):
    rng = rng_of("about")
    for _ in range(20):
        text = sentence(rng, subject, lang, "<a>it</a>")
        assert text.count("<a>it</a>") == 1
        assert not set("{}") & set(text)


@pytest.mark.parametrize(("subject", "lang"), SUBJECTS)
def test_paragraph_has_words_of_its_subject_and_is_constant(subject, lang):
    text = paragraph(rng_of("x"), subject, lang, 3)
    assert text == paragraph(rng_of("x"), subject, lang, 3)
    assert sum(term.lower() in text.lower() for term in SUBJECTS[subject, lang].terms) > 1


def test_no_two_subjects_of_a_language_share_a_term():
    for wanted in ("en", "ru", "zh"):
        terms = [term for (_, lang), found in SUBJECTS.items() if lang == wanted for term in found.terms]
        assert len(set(terms)) == len(terms)
