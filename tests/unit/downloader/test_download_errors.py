"""What is wrong with certificates."""

import datetime
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtensionOID, NameOID
from OpenSSL.crypto import X509

from crawlers.downloader.download_errors import certificate_problem
from crawlers.reasons import Reason

FIRST, LAST = 1e9, 2e9
NAMES = x509.SubjectAlternativeName(
    [
        x509.DNSName("a.test"),
        x509.DNSName("*.b.test"),
        *(x509.IPAddress(ip_address(one)) for one in ("10.0.0.1", "::1")),
    ]
)


def certificate(names=NAMES, issuer="CA"):
    key = ec.generate_private_key(ec.SECP256R1())
    by, of = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, one)]) for one in (issuer, "a.test"))
    first, last = (datetime.datetime.fromtimestamp(one, datetime.UTC) for one in (FIRST, LAST))
    builder = x509.CertificateBuilder(by, of, key.public_key(), 1).not_valid_before(first).not_valid_after(last)
    if names is not None:
        builder = builder.add_extension(names, critical=False)
    return X509.from_cryptography(builder.sign(key, hashes.SHA256()))


OURS = dict.fromkeys(["a.test", "a.test.", "www.b.test", "x_y.b.test", "10.0.0.1", "::1"])
OTHERS = dict.fromkeys(["www.a.test", "b.test", "10.0.0.2"], Reason.CERTIFICATE_OF_OTHER_HOST)
TIMES = {FIRST - 1: Reason.CERTIFICATE_EARLY, LAST: None, LAST + 1: Reason.CERTIFICATE_EXPIRED}


@pytest.mark.parametrize(("host", "problem"), {**OURS, **OTHERS}.items())
def test_certificate_is_for_its_hosts(host, problem):
    assert certificate_problem(certificate(), host, FIRST) == problem


@pytest.mark.parametrize(("now", "problem"), TIMES.items())
def test_certificate_is_for_its_time(now, problem):
    assert certificate_problem(certificate(), "a.test", now) == problem
    assert certificate_problem(certificate(), "b.test", now) == Reason.CERTIFICATE_OF_OTHER_HOST


def test_certificate_that_nobody_else_has_signed_is_self_signed():
    assert certificate_problem(certificate(issuer="a.test"), "a.test", FIRST) == Reason.CERTIFICATE_SELF_SIGNED
    assert certificate_problem(certificate(issuer="a.test"), "a.test", LAST + 1) == Reason.CERTIFICATE_EXPIRED


def test_name_outside_of_the_alternative_names_does_not_count():
    assert certificate_problem(certificate(names=None), "a.test", FIRST) == Reason.CERTIFICATE_OF_OTHER_HOST


def test_damaged_certificate_can_not_be_read():
    damaged = x509.UnrecognizedExtension(ExtensionOID.SUBJECT_ALTERNATIVE_NAME, b"\xff\x00")
    assert certificate_problem(certificate(damaged), "a.test", FIRST) == Reason.CERTIFICATE_UNREADABLE
