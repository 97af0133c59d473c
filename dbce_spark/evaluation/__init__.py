"""Measure how good extractors are: gold pages in, scores by metric and a summary with intervals out."""
