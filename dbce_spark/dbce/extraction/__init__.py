"""Extractions in Python, as `import dbce_spark` gives them: pages in, extracted pages and tables out."""
