"""Forms as browsers do not send them."""

import pytest
from starlette.requests import ClientDisconnect

from crawlers.web import panel
from crawlers.web.panel import FEW_BYTES
from tests.unit.web.conftest import FORM, HOST

OURS = {"origin": f"http://{HOST}"}
BOUNDARY = "boundary"


def part(name, value):
    return b'--%b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n' % (BOUNDARY.encode(), name, value)


def send(browser, path, fields, charset):
    token = FORM.search(browser.get("/").text)[1].encode()
    body = b"".join(part(*field) for field in [(b"csrf", token), *fields]) + f"--{BOUNDARY}--\r\n".encode()
    headers = {**OURS, "content-type": f"multipart/form-data; boundary={BOUNDARY}; charset={charset}"}
    return browser.client.post(path, content=body, headers=headers)


@pytest.mark.parametrize("field", [(b"text", rb"\ud800"), (b"text", rb"a\x00b"), (rb"a\x00b", b"x")])
def test_half_a_character_is_refused(browser, crawl_id, field):
    response = send(browser, "/start", [field], "unicode_escape")
    assert (response.status_code, "be stored; remove it" in response.text) == (400, True)


def test_many_fields_of_a_form_are_not_larger_than_a_file(browser, monkeypatch):
    monkeypatch.setattr(panel, "MAX_FIELDS", 100)
    response = browser.post("/logout", **{f"field{number}": "x" * (FEW_BYTES // 50) for number in range(60)})
    assert (response.status_code, "divide the file" in response.text) == (413, True)


def test_browser_that_goes_away_while_it_sends_is_no_error(browser, monkeypatch, caplog):
    async def gone(*_):
        raise ClientDisconnect

    monkeypatch.setattr(panel, "_form_of", gone)
    assert browser.post("/logout").status_code == 400
    assert not caplog.records
