"""Ten densely linked sites that change while they are crawled."""
