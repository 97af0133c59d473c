"""The records of an archive, each once, and the bytes that are none: together they are the whole file, in its order."""

from dbce_spark.archive.records.record import Cause, Damage, Flaw, Headers, Limits, Record
from dbce_spark.archive.records.record_headers import starts_record
from dbce_spark.archive.records.record_reader import begins_archive, foreign_head, records

__all__ = [
    "Cause",
    "Damage",
    "Flaw",
    "Headers",
    "Limits",
    "Record",
    "begins_archive",
    "foreign_head",
    "records",
    "starts_record",
]
