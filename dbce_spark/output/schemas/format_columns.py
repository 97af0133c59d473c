"""Define the columns of what is kept of a page in other formats than text, and of what the page says of itself."""

import pyarrow as pa

from dbce_spark.output.schemas.codec import STRING, fields

ABOUT = fields(
    title=STRING,
    author=STRING,
    date=STRING,
    modified=STRING,
    description=STRING,
    site_name=STRING,
    image=STRING,
    license=STRING,
    tags=pa.list_(STRING),
    found_in=pa.list_(STRING),
)
FORMATS = fields(markdown=STRING, html=STRING, about=pa.struct(ABOUT))
