"""What tests beside Spark share: a bucket."""

from collections.abc import Iterator
from uuid import uuid4

import pytest


@pytest.fixture
def bucket_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder in a bucket of a server that speaks S3."""
    import fsspec

    moto = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    server = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    told = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in (told | {"AWS_ENDPOINT_URL": f"http://{host}:{port}"}).items():
        monkeypatch.setenv(name, value)
    fsspec.filesystem("s3").clear_instance_cache()
    # What a server of this process has held, the next one holds too.
    bucket = f"stream-{uuid4().hex}"
    fsspec.filesystem("s3").mkdir(bucket)
    yield f"s3://{bucket}/in"
    fsspec.filesystem("s3").clear_instance_cache()
    server.stop()
