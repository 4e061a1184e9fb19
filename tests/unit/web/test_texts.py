import html
import re
from collections import defaultdict, deque

import pytest
from babel.messages.pofile import read_po
from babel.support import NullTranslations

from crawlers.web import panel
from crawlers.web.panel import LANGUAGES, catalogue_path
from docs.texts import texts, updated
from tests.support.of_missions import EVERY
from tests.support.stored_crawl import CRAWL

PLACEHOLDER = re.compile(r"%\(\w+\)s|%%|<[^>]+>")
LINK = re.compile(r'<a [^>]*href="(/[^"#]*)"(?! download)')
SAMPLES = 3  # of pages with one path
OTHERS = sorted(set(LANGUAGES) - {"en"})


def catalogue(language):
    with catalogue_path(language).open("rb") as file:
        return read_po(file, locale=language)


@pytest.mark.parametrize("language", OTHERS)
def test_all_texts_are_translated(language):
    found = catalogue(language)
    missing = [text for text in texts() if not whole(found.get(text if isinstance(text, str) else text[0]))]
    assert missing == []


def whole(message):
    if message is None:
        return False
    return all(message.string) if isinstance(message.string, tuple) else bool(message.string)


@EVERY
@pytest.mark.parametrize("language", OTHERS)
def test_files_of_translations_are_up_to_date(language):
    assert catalogue_path(language).read_bytes() == updated(language)[0], "run: make texts"


@pytest.mark.parametrize("language", OTHERS)
def test_translations_name_the_same_values(language):
    wrong = []
    for message in catalogue(language):
        ids, strings = ((one,) if isinstance(one, str) else one for one in (message.id, message.string))
        named = sorted(PLACEHOLDER.findall(ids[-1]))
        wrong += [string for string in strings if message.id and sorted(PLACEHOLDER.findall(string)) != named]
    assert wrong == []


class Asked(NullTranslations):
    """Remembers which texts were asked for."""

    def __init__(self):
        super().__init__()
        self.texts = set()

    def gettext(self, message):
        self.texts.add(message)
        return super().gettext(message)

    def ngettext(self, one, many, number):
        self.texts.add((one, many))
        return super().ngettext(one, many, number)

    ugettext, ungettext = gettext, ngettext


def visited(browser, *addresses):
    """Return the paths of all pages that can be reached, each with some responses."""
    waiting, seen = deque(["/", "/sites", *addresses]), defaultdict(list)
    while waiting:
        link = waiting.popleft()
        answers = seen[link.partition("?")[0]]
        if len(answers) < SAMPLES:
            answers.append(browser.get(link))
            waiting += map(html.unescape, LINK.findall(answers[-1].text))
    return seen


@pytest.mark.parametrize("language", OTHERS)
def test_no_text_stays_none(language):
    """The translation of an empty text is the head of the file of translations."""
    assert panel.translated("", language) == ""


def test_every_text_that_pages_ask_for_is_known(browser, crawl_id, monkeypatch):
    asked = Asked()
    monkeypatch.setattr(panel, "translations", lambda language: asked)
    panel._environment.cache_clear()
    seen = visited(browser, "/start", f"/crawls/{crawl_id}/explain?url=http://a.test/secret", "/no-such-page")
    panel._environment.cache_clear()
    assert f"/crawls/{CRAWL}/reports/external-hosts" in seen
    assert asked.texts - set(texts()) == set()
