"""Main content for NeMo Curator: a stage whose batches are pages that are compared with each other.

from nemo_curator.pipeline import Pipeline
from nemo_curator.stages.text.io.reader import ParquetReader
from nemo_curator.stages.text.io.writer import ParquetWriter

Pipeline(name="texts", stages=[ParquetReader("pages"), Dbce(), ParquetWriter("texts")]).run()
"""

from dataclasses import dataclass

from nemo_curator.stages.base import ProcessingStage
from nemo_curator.tasks import DocumentBatch

import dbce_spark


@dataclass
class Dbce(ProcessingStage[DocumentBatch, DocumentBatch]):
    """Adds text, title, language, labelled blocks and errors to rows of HTML. Files written by site serve it best."""

    html: str = "html"
    url: str = "url"
    name: str = "dbce"

    def inputs(self) -> tuple[list[str], list[str]]:
        """Name what a batch must have."""
        return ["data"], [self.html, self.url]

    def outputs(self) -> tuple[list[str], list[str]]:
        """Name what a batch has afterwards."""
        return ["data"], ["text", "title", "language", "page_text", "page_type", "confidence", "blocks", "error"]

    def process(self, batch: DocumentBatch) -> DocumentBatch:
        """Return the rows with their main content."""
        return DocumentBatch(
            dataset_name=batch.dataset_name,
            data=dbce_spark.extract_table(batch.to_pyarrow(), html=self.html, url=self.url),
            _metadata=batch._metadata,
            _stage_perf=batch._stage_perf,
        )
