"""Serves a press until Ctrl-C, for trying news crawls without the internet, and writes its sources.yaml.

python -m examples.press [FOLDER] [--sites 8]
"""

from __future__ import annotations

import argparse
import signal
import time
from contextlib import suppress
from pathlib import Path

from examples.press.server import Options, serve

SPEED = 10.0
PER_DAY = 60.0  # articles per site: one every two and a half minutes of real time
LEAD_S = 2 * 86_400.0  # by which the press starts behind, so that it does not pass real time for five hours


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path())
    parser.add_argument("--sites", type=int, default=8)
    chosen = parser.parse_args()
    now = time.time()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited by the server process, which ends with this one
    with serve(Options(1, chosen.sites, now - LEAD_S, now, SPEED, PER_DAY, archive_days=30.0)) as served:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sources = chosen.folder / "sources.yaml"
        sources.write_text(served.press.sources(), "utf-8")
        print(f"{sources}: {chosen.sites} sites, served until Ctrl-C; crawl them in another terminal", flush=True)
        with suppress(KeyboardInterrupt):
            signal.pause()


if __name__ == "__main__":
    main()
