"""A simulated press: many news sites whose pages are functions of a seed and the time; see `press` and `server`."""
