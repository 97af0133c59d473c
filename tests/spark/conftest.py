"""What tests beside Spark share: a bucket."""

from collections.abc import Iterator

import pytest

from tests import bucket


@pytest.fixture
def bucket_folder() -> Iterator[str]:
    """A folder in a bucket of a server that speaks S3."""
    with bucket.served() as url:
        yield f"{url}/in"
