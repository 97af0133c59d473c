"""Export an output: documents for corpus builders, plain text by site, attributes for Dolma's tools."""

from dbce_spark.export.export_job import FORMATS, ExportRequest, export

__all__ = ["FORMATS", "ExportRequest", "export"]
