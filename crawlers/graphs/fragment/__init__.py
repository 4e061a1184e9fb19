"""The model of a web fragment: the links between the crawled sites, and from them to other sites."""
