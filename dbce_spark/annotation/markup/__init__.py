"""Pages as annotators see them, and the tags that they give to their parts."""
