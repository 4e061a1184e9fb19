"""Ten sites that link to each other a lot and change while they are crawled."""
