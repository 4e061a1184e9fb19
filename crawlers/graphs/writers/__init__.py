"""One module a graph format, each a function `write(graph, out, edges, date)`."""
