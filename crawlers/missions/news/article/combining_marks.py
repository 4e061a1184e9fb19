"""Says which characters continue a word although they are no letters: vowel signs, tones, accents."""

from __future__ import annotations

import unicodedata

_FIRST, _LAST = 0x300, 0x1FFF  # behind are those of symbols and of rare scripts

# To be put into a class of a regular expression: `\w` lacks them, and would cut "हिन्दी" into three.
COMBINING_MARKS = "".join(
    one for one in map(chr, range(_FIRST, _LAST + 1)) if unicodedata.category(one) in {"Mn", "Mc"}
)
