"""How the classifier is trained: gold pages in, one small file out."""
