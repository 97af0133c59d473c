"""The history of pages in a collection: of one URL, of a text, of a crawl beside the one before."""
