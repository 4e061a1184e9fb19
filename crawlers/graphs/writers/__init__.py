"""Graph formats: each module has one function `write_FORMAT(graph, out, edges)`."""
