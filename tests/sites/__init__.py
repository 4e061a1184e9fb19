"""Small web sites that misbehave, and what runs crawls against them."""
