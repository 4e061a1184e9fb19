"""Every text of ours that is stored is recognised, so that the panel can translate it."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import pytest

import crawlers
from crawlers import items
from crawlers.algorithms.news import alarm_rules
from crawlers.algorithms.url_rules.rule_learner import HAND, LEARNT
from crawlers.extensions import download_errors
from crawlers.items import ARTICLE, FEED, HOME, PAGE, SITEMAP
from crawlers.reports.catalogue.sitemap_reports import _STATES
from crawlers.reports.histories.history import Words
from crawlers.reports.histories.history_text import sentence
from crawlers.reports.stored_words import TEMPLATES, recognised
from crawlers.storage.news import document_copies

ROOT = Path(crawlers.__file__).parent
# Packages whose reasons are printed for the user of a command, and are not stored.
NOT_STORED = ("inputs", "cli", "commands", "lab", "web", "reports")
# Names of arguments and variables, and exceptions whose message is a reason.
NAMES = {"reason", "problem", "why", "unread"}
ERRORS = {
    *("BadUrl", "BadBody", "DamagedBody", "DownloadRefusedError", "BadResponseError", "RenderingInterruptedError"),
    *("Redirect", "Reason", "KnownCopy", "FeedContent"),
}
FUNCTION = re.compile(r"_?(?:reason\w*|too_deep|shape_reason|not_selected|article)")
GAP = "\0"  # what an f-string fills in
NO_REASONS = {
    "could not begin",  # the end of a crawl: see `crawl_overview.ENDINGS`
    "finished",
    f"{GAP}; will be retried",  # of a line of a log
    "store_failed",
}
VALUES = (
    "7",
    "timeout",
    "a header",
    "headers",
    "not selected",
    "too deep",
    "feed",
    "a.test has the ",
)  # what that may be


def texts_in(path):
    """Yield the literals of a module that are reasons, as far as their place in the code tells."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from (text for one in node.keywords if one.arg in NAMES for text in literals(one.value))
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name in ERRORS:
                yield from (text for one in node.args for text in literals(one))
        elif isinstance(node, ast.Assign):
            targets = [
                t.attr.lstrip("_") if isinstance(t, ast.Attribute) else getattr(t, "id", "") for t in node.targets
            ]
            if NAMES.intersection(targets):
                yield from literals(node.value)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and FUNCTION.fullmatch(node.name):
            returned = (one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value is not None)
            yield from (text for value in returned for text in literals(value))


def literals(node):
    """Yield the texts that an expression may be, with a `GAP` for each part that is not a literal."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = (one.value if isinstance(one, ast.Constant) else GAP for one in node.values)
        text = "".join(parts)
        if re.search("[a-z]{3}", text):
            yield text
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)
    elif isinstance(node, ast.BoolOp):
        for one in node.values:
            yield from literals(one)


def is_known(text):
    """Return whether *text* is recognised with some of `VALUES` in its gaps, as it is or as why a URL is left out."""
    first, *further = text.split(GAP)
    for values in itertools.product(VALUES, repeat=len(further)):
        filled = first + "".join(map("".join, zip(values, further, strict=True)))
        if any(recognised(prefix + filled) for prefix in ("", "not selected: ")):
            return True
    return False


def modules():
    return [path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] not in NOT_STORED]


def test_reasons_in_the_code_are_recognised():
    found = {text: path.name for path in modules() for text in texts_in(path)}
    assert len(found) > 50  # else the test has lost sight of them
    unknown = {text: where for text, where in found.items() if not is_known(text) and text not in NO_REASONS}
    assert unknown == {}, "add them to crawlers/reports/stored_words.py, with translations"


def words_of(module, *names):
    return [vars(module)[name] for name in names]


@pytest.mark.parametrize(
    "words",
    [
        words_of(items, "TIMEOUT", "HOST_NOT_FOUND", "CONNECTION_REFUSED", "CONNECTION_FAILED"),
        words_of(download_errors, "EXPIRED", "NOT_VALID_YET", "FOR_ANOTHER_HOST", "SELF_SIGNED", "UNKNOWN_ISSUER"),
        words_of(download_errors, "UNREADABLE"),
        [FEED, SITEMAP, PAGE, HOME, ARTICLE],
        [HAND, LEARNT],
        list(_STATES.values()),
        words_of(alarm_rules, "DEAD_FEED", "UNREACHABLE", "SILENT", "EXTRACTION", "DISCOVERY"),
        [value for name, value in vars(document_copies).items() if name.startswith(("SAME_", "NEARLY_"))],
        ["sitemap index", "news sitemap"],  # of `FeedContent`; rss, atom and json are names
        ["nav", "header", "footer", "main", "aside", "redirect"],
    ],
)
def test_kinds_and_states_are_recognised(words):
    assert words
    assert [word for word in words if recognised(word) is None] == []


@pytest.mark.parametrize("template", TEMPLATES)
def test_what_is_recognised_is_said_with_the_same_words(template):
    text = re.sub(r"%\((?:reason|further|why)\)s", "timeout", template)
    text = re.sub(r"%\(\w+\)s", "7", text)
    found = recognised(text)
    assert found is not None
    assert sentence(found) == text


@pytest.mark.parametrize("text", ["", "x", "<b>timeout</b>", "a title; a page", "UnicodeError: broken", "7 attempts"])
def test_other_text_is_not_recognised(text):
    assert recognised(text) is None


def test_reasons_within_reasons_are_found():
    found = recognised("redirects to a bad URL: scheme mailto, 3 attempts")
    assert found is not None
    assert found.parts == {"reason": Words("redirects to a bad URL: scheme mailto"), "number": "3"}
