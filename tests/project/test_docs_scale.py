"""docs/explanation/scale.md names the column by which each table is divided, as the analysis of statements has it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.site_routing import CENTRAL, DIVIDED_BY, HASHED

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "scale.md"


def test_every_table_has_a_row_with_the_columns_by_which_it_is_divided():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|", PAGE.read_text("utf-8"), re.MULTILINE))
    divided = {name: tuple(re.findall(r"`(\w+)`", columns)) for name, columns in rows.items()}
    assert divided == {**DIVIDED_BY, **dict.fromkeys(HASHED, ("id",)), **dict.fromkeys(CENTRAL, ())}
