"""Poll feeds, fetch the pages they link to, and write them as WARC files: the start of a stream of pages."""
