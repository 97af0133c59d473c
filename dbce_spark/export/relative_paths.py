"""Write the paths of archives from a folder on: what is published names no folder of the machine that made it."""

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.errors import InputError
from dbce_spark.files import sources

COLUMN = "warc_file"


def relative_paths(batch: pa.RecordBatch, folder: str) -> pa.RecordBatch:
    """Cut the folder off the paths of archives, if the batch has any; "" leaves them whole.

    Raises:
        InputError: an archive does not lie there.
    """
    if not folder or COLUMN not in batch.schema.names:
        return batch
    start = sources.absolute(folder).rstrip("/") + "/"
    paths, at = batch.column(COLUMN), batch.schema.get_field_index(COLUMN)
    outside = paths.filter(pc.invert(pc.starts_with(paths, start)))
    if len(outside):
        raise InputError(f"--relative-to {folder}: {outside[0]} is not there; give a folder that all archives lie in")
    return batch.set_column(at, batch.schema.field(at), pc.utf8_slice_codeunits(paths, len(start)))
