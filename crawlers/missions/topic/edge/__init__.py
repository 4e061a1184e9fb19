"""What topics add to the edge: a pipeline that writes the results."""
