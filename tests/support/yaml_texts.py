"""Texts that may be anything, mostly YAML that is nearly right, for the files that people write."""

from hypothesis import strategies as st

WORDS = "sources: all: roots: site: a.example a é 😀 { } [ ] : , ' \" &a *a # ? | >- %YAML <<: \\UFFFFFFFF \\ud800"
BREAKS = ("\n", "\n- ", "\n  ", "\n---\n", "\n...\n", " ", "\t", "\r", "\u2028", "\x85", "\ufeff", "\x80", "\0")
PIECES = st.sampled_from([*WORDS.split(), *BREAKS])
ANY_TEXT = st.lists(PIECES, max_size=30).map("".join) | st.text()


def lines(text):
    """Return how many lines editors count."""
    return len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
