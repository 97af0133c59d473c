"""Write a corpus: the extractions of an output that some filters keep, and an account of what each removed."""

from dbce_spark.export.corpus.corpus_job import CorpusRequest, write

__all__ = ["CorpusRequest", "write"]
