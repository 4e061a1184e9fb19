"""Connections that are used again, TLS without a valid certificate, and names that can't be resolved."""

import datetime
import re
import ssl
from contextlib import ExitStack
from ipaddress import IPv4Address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from crawlers.items import State
from crawlers.reasons import sentence
from tests.support.connections import reset
from tests.support.persistent import PersistentSite, response
from tests.support.running import Project
from tests.support.sites.server import links

PATHS = [f"/{number}" for number in range(8)]
HTML = links(*PATHS)


async def close_at_second(connection, path):
    if connection.number == 2:
        connection.writer.close()
    else:
        await connection.send(response(HTML + path))


async def reset_at_second(connection, path):
    if connection.number == 2:
        reset(connection.writer)
    else:
        await connection.send(response(HTML + path))


async def close_after_each(connection, path):
    await connection.send(response(HTML + path))
    connection.writer.close()


async def send_garbage(connection, path):
    await connection.send(response(HTML + path) + b"garbage\r\n\r\n")


async def send_second_response(connection, path):
    await connection.send(response(HTML + path) + response(links("/smuggled")))


ANSWERS = [close_at_second, reset_at_second, close_after_each, send_garbage, send_second_response]


def test_end_of_an_idle_connection_is_not_an_error_of_a_page(tmp_path, http_client):
    project = Project(tmp_path, RETRY_TIMES=0, HTTP_CLIENT=http_client)
    with ExitStack() as stack:
        sites = [stack.enter_context(PersistentSite(answer)) for answer in ANSWERS]
        assert project.crawl(",".join(f"{site.origin};2;;0" for site in sites)).status == 0
    for site, answer in zip(sites, ANSWERS, strict=True):
        assert project.pages(site.origin) == dict.fromkeys(["/", *PATHS], (State.DONE, "")), answer
        assert site.paths["/smuggled"] == 0
    assert (tmp_path / "logs/error_log.csv").read_text().count("\n") == 1


ANOTHER, OWN = x509.DNSName("another.example"), x509.IPAddress(IPv4Address("127.0.0.1"))


def certificate(path, first_day, last_day, host=ANOTHER, issuer=""):
    """Write a certificate of *host* with its key, valid on these days from today; without an *issuer*, self-signed."""
    key, signing = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    name, other = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, one)]) for one in ("mine", issuer or "mine"))
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder(other, name, key.public_key(), 1)
        .add_extension(x509.SubjectAlternativeName([host]), critical=False)
        .not_valid_before(now + datetime.timedelta(first_day))
        .not_valid_after(now + datetime.timedelta(last_day))
        .sign(signing if issuer else key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    form = serialization.PrivateFormat.PKCS8
    path.write_bytes(key.private_bytes(pem, form, serialization.NoEncryption()) + signed.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


@pytest.mark.parametrize(
    ("signed", "said"),
    [((-100, -10, OWN, "CA"), "certificate_expired"), ((-1, 10, OWN, "CA"), None)],
)
def test_bad_certificate_is_said_and_refused_only_if_the_setting_says_so(tmp_path, http_client, signed, said):
    with PersistentSite(close_after_each, certificate(tmp_path / "key.pem", *signed)) as site:
        quick = {"RETRY_TIMES": 0, "SITEMAPS_ENABLED": 0, "MAX_LEVEL": 0, "HTTP_CLIENT": http_client}
        unchecked = Project(tmp_path / "unchecked", **quick)
        ended = unchecked.crawl(f"{site.origin};;;0").done()
        assert unchecked.pages(site.origin)["/"] == (State.DONE, "")
        assert unchecked.query("SELECT certificate, availability FROM site") == [(said, None)]
        report = unchecked.run("report", "sites").output
        assert re.search(rf"{site.origin} +finished +{sentence(said) or '-'} +1 ", report)
        if said is not None:
            assert f"{site.origin}: {sentence(said)}\n" in ended.log
            assert sentence(said) in unchecked.run("sites", "list", "--all").output
        checked = Project(tmp_path / "checked", DOWNLOAD_VERIFY_CERTIFICATES=1, **quick)
        log = checked.crawl(f"{site.origin};;;0").log
        why = said or "certificate_unknown_issuer"
        assert checked.query("SELECT robots_status, robots_text FROM site") == [(0, why)]
        assert f"{site.origin}: not reachable: robots.txt can't be read: {sentence(why)}" in log
        assert "Traceback" not in log


def test_certificate_of_a_trusted_issuer_is_accepted(tmp_path, http_client, monkeypatch):
    with PersistentSite(close_after_each, certificate(tmp_path / "key.pem", -1, 10, OWN)) as site:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "key.pem"))
        project = Project(tmp_path, MAX_LEVEL=0, DOWNLOAD_VERIFY_CERTIFICATES=1, HTTP_CLIENT=http_client)
        assert project.crawl(f"{site.origin};;;0").status == 0
        assert project.pages(site.origin)["/"] == (State.DONE, "")
        assert project.query("SELECT certificate FROM site") == [(None,)]


def test_sites_without_an_address_fail_with_a_reason(tmp_path, http_client):
    names = ["a" * 70 + ".test", ".".join(["a" * 60] * 6), "_x_.test", "bücher.test"]
    project = Project(tmp_path, RETRY_TIMES=0, ROBOTSTXT_OBEY=0, HTTP_CLIENT=http_client)
    log = project.crawl(",".join(f"http://{name};;;0" for name in names)).log
    assert [page for _, page in sorted(project.pages().items())] == [(State.FAILED, "host_not_found")] * 4
    assert "Traceback" not in log


@pytest.mark.parametrize("tls_on_plain", [True, False])
def test_sites_with_the_wrong_protocol_fail_with_a_reason(tmp_path, http_client, tls_on_plain):
    context = certificate(tmp_path / "key.pem", -1, 10) if tls_on_plain else None
    with PersistentSite(close_after_each, context) as site:
        origin = site.origin.replace(*(("https", "http") if tls_on_plain else ("http", "https")))
        project = Project(tmp_path, RETRY_TIMES=0, ROBOTSTXT_OBEY=0, DOWNLOAD_TIMEOUT=1, HTTP_CLIENT=http_client)
        log = project.crawl(f"{origin};;;0").log
        state, reason = project.pages(origin)["/"]
        assert (state, reason) == (State.FAILED, "connection_failed" if tls_on_plain else "timeout")
        assert "Traceback" not in log
