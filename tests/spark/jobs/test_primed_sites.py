"""A collection primes a stream that reads pages as it does, and no other. No Spark runs."""

from pathlib import Path

import pytest

from dbce_spark import config
from dbce_spark.config import DbceConfig
from dbce_spark.errors import ConfigError, OutputError
from dbce_spark.output.collection import Collection, Version
from dbce_spark.spark.jobs import primed_sites, stream_job
from dbce_spark.spark.run import plan
from tests.support.stream_files import TREE


def version(of: DbceConfig, classifier: str = "") -> Version:
    """The version of a collection that was read with these parameters."""
    settings = {"config": of.as_dict(), "classifier": classifier or plan.classifier_digest(of.label)}
    return Version(number=1, made="", why="", increments=(), settings=settings)


def test_a_collection_that_was_read_otherwise_is_refused() -> None:
    """By other signatures, or by another classifier; what its labels were made of is nothing to the stream."""
    own, collection = config.default(), Collection("news")
    primed_sites.check_alike(collection, version(config.load(settings=["label.title=drop", "bucket.cap=9"])), own)

    with pytest.raises(OutputError, match=r"--prime news: .* lsh\.threshold was 0\.5, is 0\.6\. Give the stream"):
        primed_sites.check_alike(collection, version(config.load(settings=["lsh.threshold=0.5"])), own)
    with pytest.raises(OutputError, match=r"classifier was \"other\", is "):
        primed_sites.check_alike(collection, version(own, "other"), own)


@pytest.mark.parametrize(
    ("settings", "prime", "message"),
    [
        (["stream.by=urltree"], "news", "--prime is for --by dbce"),
        (["label.by=T002"], "", "label.by is T002; by DBCE a stream labels by"),
    ],
)
def test_what_a_method_cannot_do_is_refused(tmp_path: Path, settings: list[str], prime: str, message: str) -> None:
    """Before the output is begun."""
    request = stream_job.StreamRequest(
        inputs=(), output=str(tmp_path), checkpoint="c", every=None, tree=TREE, prime=prime
    )

    with pytest.raises(ConfigError, match=message):
        stream_job._check_begun(request, config.load(settings=settings))
    assert [] == [*tmp_path.iterdir()]
