"""Scores of texts against gold: metrics, averages with their uncertainty, and cells by properties of pages."""
