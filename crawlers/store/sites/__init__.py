"""Sites of crawls and of the list of seeds: adding, opening and removing them."""
