"""Reports of an evaluation: tables, plots, and the worst pages."""
