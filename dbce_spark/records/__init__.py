"""The records of an archive, each once, and the bytes that are none: together they are the whole file, in its order."""

from dbce_spark.records.reader import records
from dbce_spark.records.record import Cause, Damage, Headers, Limits, Record

__all__ = ["Cause", "Damage", "Headers", "Limits", "Record", "records"]
