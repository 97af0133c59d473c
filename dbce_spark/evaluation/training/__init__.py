"""Train the classifier: gold pages in, one small file out."""
