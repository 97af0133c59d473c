"""Main content for datatrove: one document at a time, or documents of a site together.

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import WarcReader
from datatrove.pipeline.writers import JsonlWriter

LocalPipelineExecutor([WarcReader("crawl"), DbceTogether(), JsonlWriter("texts")]).run()
"""

from itertools import islice

from datatrove.data import DocumentsPipeline
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.extractors.base import BaseExtractor
from datatrove.utils.typeshelper import StatHints

import dbce_spark


class Dbce(BaseExtractor):
    """Each document by itself, in a process that datatrove ends after `timeout` seconds, beginning included."""

    name = "⛏ dbce"

    def __init__(self, timeout: float = 10) -> None:
        super().__init__(timeout)

    def extract(self, text: str) -> str:
        """Return the main content of a page; "" of what is none."""
        try:
            return dbce_spark.extract(text).text
        except dbce_spark.InputError:
            return ""


class DbceTogether(PipelineStep):
    """Documents compared with each other, `together` at a time: it finds more boilerplate where these are of few sites.

    Takes `url` and `date` of their metadata, as datatrove's WarcReader leaves them there, and adds title and language.
    """

    name = "⛏ dbce, pages together"
    type = "🛢 - EXTRAC"

    def __init__(self, together: int = 1000) -> None:
        super().__init__()
        self.together = together

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        """Replace the HTML of each document by its main content; drop those that have none."""
        documents = iter(data)
        while some := [*islice(documents, self.together)]:
            with self.track_time("batch"):
                pages = dbce_spark.extract_pages(
                    [(one.text, one.metadata.get("url"), one.metadata.get("date")) for one in some]
                )
            for document, page in zip(some, pages, strict=True):
                self.stat_update(StatHints.total)
                if page.error or not page.text:
                    self.stat_update(StatHints.dropped)
                    continue
                document.text = page.text
                document.metadata |= {"title": page.title, "language": page.language}
                self.stat_update(StatHints.forwarded)
                self.update_doc_stats(document)
                yield document
