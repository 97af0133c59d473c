"""The kept part of a page, with its structure: a clean tree, as HTML and as Markdown."""
