"""Which texts are the same, or nearly the same: `simhash`, and the keys of documents."""
