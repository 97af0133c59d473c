"""The plan of a run: kept beside what it stages, so that a run is only continued as it was begun."""

import hashlib
import json
import platform
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any

import dbce_spark
from dbce_spark.config import DbceConfig, LabelConfig, flat, unlike
from dbce_spark.errors import ConfigError, OutputError, Parameter
from dbce_spark.log import counted
from dbce_spark.spark.run import checkpoints, heartbeat, staging

_VERSIONS_OF = (
    *("pyspark", "pyarrow", "numpy", "lxml", "webencodings", "chardetng-py", "brotli", "isal", "lz4", "zstandard"),
    *("surt", "tldextract", "xxhash", "rapidfuzz", "py3langid", "turbohtml", "htmldate"),
)
"""The libraries that rows follow from; those that only read stores, or write reports, are none."""
_OF_OTHERS = ("corpus", "comparison", "acquire", "stream", "engine")
"""Sections of the configuration that no output of a run follows from."""
STAGING_VERSION = 9
"""Version of the tables and checkpoints in a staging folder: raised when a name or a form among them changes,
or the text of a page: what is staged has places in it."""
_MOST_NAMED = 5
"""Differences, and files of each, that an error names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that the bytes of an output follow from; the content of the inputs aside.

    `classifier` is the digest of the file that pages are labelled by, "" if none are; `output` is where the tables go
    if that is not where they are staged. Neither it nor `staging_version` changes the bytes of an output.
    """

    files: list[str]
    indexes: list[str]
    base: str
    limit: int | None
    with_html: bool
    config: dict[str, Any]
    classifier: str
    versions: dict[str, str]
    output: str = ""
    staging_version: int = 1

    @property
    def digest(self) -> str:
        """Return a digest that is the same for outputs made alike, wherever they are."""
        content = asdict(self) | {"output": ""}
        del content["staging_version"]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def made(files: Sequence[str], indexes: Sequence[str], base: str, config: DbceConfig, *, limit: int | None) -> Plan:
    """Make the plan of a run with this installation; one without HTML, into the folder where it stages.

    Raises:
        ConfigError: `label.classifier` cannot be read.
    """
    return Plan(
        files=sorted(files),
        indexes=sorted(indexes),
        base=base,
        limit=limit,
        with_html=False,
        config={name: values for name, values in config.as_dict().items() if name not in _OF_OTHERS},
        classifier=classifier_digest(config.label),
        versions=versions(),
        staging_version=STAGING_VERSION,
    )


def versions() -> dict[str, str]:
    """Read the versions of this package, of Python, and of the libraries that rows depend on."""
    return {"dbce_spark": dbce_spark.__version__, "python": platform.python_version(), **dict(_installed())}


def _installed() -> Iterator[tuple[str, str]]:
    for name in _VERSIONS_OF:
        with suppress(PackageNotFoundError):  # the plain engine needs no PySpark
            yield name.lower(), version(name)


def classifier_digest(label: LabelConfig) -> str:
    """Return the digest of the file that pages are labelled by, "" if none are.

    Raises:
        ConfigError: it cannot be read.
    """
    if label.by != "classifier":
        return ""
    shipped = files("dbce_spark") / "conf" / "classifier.npz"
    try:
        stored = Path(label.classifier).read_bytes() if label.classifier else shipped.read_bytes()
    except OSError as error:
        raise ConfigError(Parameter("label.classifier"), f": {label.classifier} cannot be read: {error}") from error
    return hashlib.sha256(stored).hexdigest()[:16]


def save(plan: Plan, work: str) -> None:
    checkpoints.write(staging.path(work, staging.PLAN), plan)


def read_files(work: str) -> list[str]:
    """List the files that an unfinished run has read there: it needs them no more."""
    if not (numbers := staging.read_sources(work)):
        return []
    before = None
    with suppress(checkpoints.BrokenCheckpoint):  # which `is_begun` refuses
        before = checkpoints.read(staging.path(work, staging.PLAN), Plan)
    return [before.files[number] for number in numbers if number < len(before.files)] if before else []


def is_begun(plan: Plan, work: str) -> bool:
    """Return whether a run with this plan was begun there, and did not end.

    Raises:
        OutputError: one with another plan was, or what it has left is of another version.
    """
    path = staging.path(work, staging.PLAN)
    try:
        before = checkpoints.read(path, Plan)
    except checkpoints.BrokenCheckpoint as error:
        raise OutputError(f"{path} is no plan of this version; --overwrite starts afresh") from error
    if before is None:
        return False
    if before.staging_version != plan.staging_version:
        raise OutputError(
            f"{work} holds an unfinished run of another version of this program, whose staged tables this one cannot"
            " read; --overwrite starts afresh"
        )
    if unlike_before := [*differences(before, plan)]:
        more = f"; and {len(unlike_before) - _MOST_NAMED} more" if len(unlike_before) > _MOST_NAMED else ""
        named = "; ".join(unlike_before[:_MOST_NAMED])
        beat = heartbeat.read(work)
        remedy = (
            "Give the same inputs and settings to resume it, or --overwrite to start from the beginning"
            if beat is None or beat.keeps
            else "Nothing is kept of it that could be resumed; give another --output, or --overwrite to replace it"
        )
        raise OutputError(f"{work} holds an unfinished run with other settings: {named}{more}. {remedy}")
    return True


def differences(before: Plan, now: Plan) -> Iterator[str]:
    """Iterate over the differences of two plans, each as a person may read it."""
    for name, noun in (("files", "file"), ("indexes", "index file")):
        was, wanted = set(getattr(before, name)), set(getattr(now, name))
        yield from _some(noun, "no longer among the inputs", was - wanted)
        yield from _some(noun, "new among the inputs", wanted - was)
    yield from unlike(_settings(before), _settings(now))


def _some(noun: str, what: str, names: Set[str]) -> Iterator[str]:
    if names:
        rest = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        yield f"{counted(len(names), noun)} {what}: {', '.join(sorted(names)[:_MOST_NAMED])}{rest}"


def _settings(one: Plan) -> dict[str, Any]:
    """Return all but the inputs, by dotted names: those of the configuration as --set has them."""
    plain = asdict(one)
    rest = {name: value for name, value in plain.items() if name not in ("files", "indexes", "config")}
    return flat(rest) | flat(plain["config"])
