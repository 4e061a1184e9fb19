"""Stored reasons: each code has a sentence, and its details come back as they went in."""

from pathlib import Path

import pytest

import crawlers
from crawlers.reasons import Reason, parsed, sentence
from tests.support.of_missions import EVERY

DETAILS = {"why": "status 503", "number": "1234"}


@pytest.mark.parametrize("code", Reason)
def test_details_come_back_and_are_said(code):
    details = {name: DETAILS.get(name, f"<{name}>") for name in code.parts}
    stored = code.of(*details.values())
    assert parsed(stored) == (code, details)
    assert "%" not in sentence(stored)
    assert all(text in sentence(stored).replace(",", "") for text in details.values())


def test_only_the_last_detail_may_have_spaces():
    stored = Reason.PRIVATE_ADDRESS.of("10.1.2.3", "private 10.0.0.0/8")
    assert sentence(stored) == "address 10.1.2.3, which is not public: private 10.0.0.0/8"


def test_details_must_be_those_of_the_code():
    with pytest.raises(TypeError, match="status has the parts"):
        Reason.STATUS.of()


@pytest.mark.parametrize("text", ["timeout, 3 attempts", "Status 404", "no such code"])
def test_what_is_no_code_is_not_said(text):
    with pytest.raises(ValueError, match="is not a valid Reason"):
        sentence(text)


@EVERY
def test_every_code_is_given_somewhere():
    sources = [path.read_text() for path in Path(crawlers.__file__).parent.rglob("*.py") if path.name != "reasons.py"]
    assert [code.name for code in Reason if not any(f"Reason.{code.name}" in text for text in sources)] == []
