"""A collection primes a stream that reads pages as it does, and no other. No Spark runs."""

from pathlib import Path

import pytest

from dbce_spark import config
from dbce_spark.config import DbceConfig
from dbce_spark.errors import ConfigError, OutputError
from dbce_spark.output.collection import Collection, Increment, Version
from dbce_spark.spark.jobs import primed_sites, stream_job
from dbce_spark.spark.run import plan
from dbce_spark.streaming.stream import stream_tables
from tests.support.stream_files import TREE, part

INCREMENT = Increment(number=1, page_files=2, captures=1, extractions=1, relabelled=0)


def version(of: DbceConfig, classifier: str = "", *increments: Increment) -> Version:
    """The version of a collection that was read with these parameters."""
    settings = {"config": of.as_dict(), "classifier": classifier or plan.classifier_digest(of.label)}
    return Version(number=1, made="", why="", increments=increments, settings=settings)


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


def test_a_collection_that_lacks_pages_is_refused(tmp_path: Path) -> None:
    """As a copy that broke off: the error names the file, before Spark does by a path."""
    collection = Collection(str(tmp_path))
    pages = Path(collection.increment(1), "pages")
    pages.mkdir(parents=True)
    (pages / "00000000.parquet").touch()

    with pytest.raises(OutputError, match=rf"^--prime {tmp_path}: {pages}/00000001\.parquet is missing; restore it"):
        primed_sites.check_alike(collection, version(config.default(), "", INCREMENT), config.default())


def test_a_version_that_was_removed_meanwhile_is_named(tmp_path: Path) -> None:
    """A vacuum can remove the version that a stream was begun with, and needs until its second batch is written."""
    own, collection, to = config.default(), Collection(str(tmp_path / "news")), str(tmp_path / "out")
    collection.commit(version(own, "", INCREMENT))
    pages = Path(collection.increment(1), "pages")
    pages.mkdir(parents=True)
    for number in range(INCREMENT.page_files):
        (pages / f"{number:08}.parquet").touch()
    asked = stream_job.StreamRequest(
        inputs=(), output=to, checkpoint=f"{to}/_checkpoint", every=None, tree=TREE, prime=collection.folder
    )
    stream_tables.begin(to, stream_job._settings(asked, own))
    stream_tables.commit(to, 0, part({}, {}))
    stream_job.check(asked, own)
    (tmp_path / "news/versions/00000001.json").unlink()
    with pytest.raises(OutputError, match=r"has no version 1; .*/out was begun with it, .* put it back, or begin"):
        stream_job.check(asked, own)
    stream_tables.commit(to, 1, part({}, {}))
    stream_job.check(asked, own)
