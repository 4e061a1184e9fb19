"""Language and colours."""

import pytest


def test_theme_and_language_are_kept(browser):
    response = browser.post("/preferences", language="ru", theme="dark", page="/crawls/1?x=1")
    assert (response.status_code, response.headers["location"]) == (303, "/crawls/1?x=1")
    text = browser.get("/").text
    assert '<html lang="ru" data-theme="dark">' in text


@pytest.mark.parametrize("page", ["http://evil.example/", "//evil.example/", "javascript:alert(1)", "http://[", ""])
def test_nobody_is_sent_to_another_site(browser, page):
    assert browser.post("/preferences", page=page).headers["location"] == "/"
