"""Feeds polled, and what they link to fetched and written as WARC files: what a stream of pages begins with."""
