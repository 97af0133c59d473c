"""A bucket to be tested with, in this process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def served(secret: str = "any") -> Iterator[str]:
    """The URL of an empty bucket of a server that speaks S3, which clients here and in processes of their own find by
    the environment. Skips where there is no such server."""
    import fsspec

    moto = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    server = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": secret, "AWS_DEFAULT_REGION": "us-east-1"}
    settings |= {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    bucket = uuid4().hex  # what a server of this process has held, the next one holds too
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        clients = fsspec.get_filesystem_class("s3")
        clients.clear_instance_cache()  # they keep the address of the server before
        try:
            fsspec.filesystem("s3").mkdir(bucket)
            yield f"s3://{bucket}"
        finally:
            clients.clear_instance_cache()
            server.stop()


def objects_below(url: str) -> dict[str, bytes]:
    """All objects of a folder of a bucket, by their names below it."""
    import fsspec

    storage = fsspec.filesystem("s3", skip_instance_cache=True)
    top = url.removeprefix("s3://")
    return {name.removeprefix(f"{top}/"): storage.cat_file(name) for name in storage.find(top)}


@contextmanager
def seen_by_workers(spark: "SparkSession") -> Iterator[None]:
    """Within the block the Python workers of a session that was started before find the bucket as well."""
    settings = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    of_workers = spark.sparkContext.environment
    of_workers.update(settings)
    try:
        yield
    finally:
        for name in settings:
            del of_workers[name]
