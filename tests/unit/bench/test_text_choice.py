"""What the training of the choice of text says of folders from which nothing can be learnt."""

from __future__ import annotations

import gzip
import json

import pytest

from bench.quality import text_choice

PAGE = gzip.compress(b"<!doctype html><html><body><p>The wind took the roofs of the town.</p></body></html>")


@pytest.mark.parametrize("about", [None, {"with": ["the wind"], "without": []}])
def test_folders_without_texts_are_refused(about, tmp_path, monkeypatch, capsys):
    urls = [f"https://town{number}.test/wind" for number in range(8)] if about else []
    (tmp_path / "page.gz").write_bytes(PAGE)
    (tmp_path / "articles.json").write_text(json.dumps({url: {"file": "page.gz", **about} for url in urls}), "utf-8")
    monkeypatch.setattr("sys.argv", ["text_choice", str(tmp_path)])
    with pytest.raises(SystemExit):
        text_choice.main()
    assert "several domains for training" in capsys.readouterr().err
