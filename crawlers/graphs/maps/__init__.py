"""How graphs are drawn: positions, communities, colours and sizes of nodes, as functions of numbers."""
