"""A corpus: the extractions of an output that some filters keep, and an account of what each removed."""

from dbce_spark.export.corpus.corpus_job import Request, write

__all__ = ["Request", "write"]
