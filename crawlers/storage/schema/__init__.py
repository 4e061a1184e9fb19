"""The tables of the store, and the migrations that make them."""
