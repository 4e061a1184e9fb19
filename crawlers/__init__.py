"""Spiders that share one adaptive scheduler, one store and one set of graphs."""

import os

__version__ = "0.1.0"

# OpenBLAS, which numpy loads, starts a thread per processor: each would spin for a tenth of a second, without work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
