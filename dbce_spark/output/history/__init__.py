"""Follow pages through a collection: one URL, each text, and a crawl beside the one before."""
