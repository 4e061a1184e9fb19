"""The policy of news crawls: what each page means for feeds, polls, URL rules and documents."""
