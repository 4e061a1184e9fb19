"""Keys are stable across versions and fit signed 64-bit columns."""

from hypothesis import given
from hypothesis import strategies as st

from crawlers.urls.keys import content_hash, page_key, signed, url_key


@given(st.text(st.characters(codec=None)))
def test_key_of_any_text_fits_a_signed_64_bit_column(text):
    assert -(2**63) <= url_key(text) < 2**63


@given(st.integers(0, 2**64 - 1))
def test_signed_number_has_the_same_bits(number):
    assert signed(number) % 2**64 == number


@given(st.text(st.characters(codec=None)))
def test_key_of_a_page_has_sixty_bits(text):
    assert page_key(text) == url_key(text) % 2**60


def test_stored_keys_stay_valid():
    assert page_key("http://example.com/") == 682859453203029547
    assert url_key("http://example.com/") == -5081748069831205333
    assert content_hash(b"<html>").hex() == "1721e7ca0077ca07aa73f72bcb29bafa"
