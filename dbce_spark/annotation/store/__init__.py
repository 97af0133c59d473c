"""The store of a workbench: pages, annotators and submissions, and what is imported and exported."""
