"""The parameters of a run: frozen dataclasses filled from conf/dbce.toml.

No default stands here; each is written once, there.
"""

import dataclasses
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from dbce_spark.errors import ConfigError

Sections = TypeVar("Sections")


@dataclass(frozen=True, slots=True, kw_only=True)
class InputConfig:
    statuses: tuple[int, ...]
    mimes: tuple[str, ...]
    site: str
    patterns: tuple[str, ...]
    index_patterns: tuple[str, ...]
    records_per_task: int
    max_record_bytes: int
    max_head_bytes: int
    max_inflated_bytes: int
    max_inflated_ratio: int
    max_unpacked_bytes: int
    max_zip_files: int
    max_zip_depth: int
    max_ratio: int
    max_failed_files: float

    def __post_init__(self) -> None:
        _one_of("input.site", self.site, ("domain", "host", "none"))
        for name in ("records_per_task", "max_record_bytes", "max_head_bytes", "max_ratio"):
            _at_least(f"input.{name}", getattr(self, name), 1)
        for name in ("inflated_bytes", "inflated_ratio", "unpacked_bytes", "zip_files", "zip_depth"):
            _at_least(f"input.max_{name}", getattr(self, f"max_{name}"), 0)
        if not 0 <= self.max_failed_files <= 1:
            raise ConfigError(f"input.max_failed_files is {self.max_failed_files}; it must lie between 0 and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectConfig:
    """Each filter passes what fits one of its values; an empty one passes all."""

    surts: tuple[str, ...]
    domains: tuple[str, ...]
    hosts: tuple[str, ...]
    mimes: tuple[str, ...]
    statuses: tuple[int, ...]
    since: str
    until: str
    languages: tuple[str, ...]
    digests: tuple[str, ...]
    urls: tuple[str, ...]
    sample: float
    sample_seed: int
    max_wanted: int

    def __post_init__(self) -> None:
        if not 0 < self.sample <= 1:
            raise ConfigError(f"select.sample is {self.sample}; it must lie above 0 and be at most 1")
        _at_least("select.max_wanted", self.max_wanted, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchConfig:
    """How ranges of files are read, and how long it is tried."""

    gap_bytes: int
    span_bytes: int
    attempts: int
    first_wait_seconds: float
    max_wait_seconds: float
    start_jitter_seconds: float
    timeout_seconds: float
    max_failed_spans: int

    def __post_init__(self) -> None:
        _at_least("fetch.gap_bytes", self.gap_bytes, 0)
        for name in ("span_bytes", "attempts", "max_failed_spans"):
            _at_least(f"fetch.{name}", getattr(self, name), 1)
        for name in ("first_wait_seconds", "max_wait_seconds", "timeout_seconds"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"fetch.{name} is {getattr(self, name)}; it must be above 0")
        if not self.start_jitter_seconds >= 0:
            raise ConfigError(f"fetch.start_jitter_seconds is {self.start_jitter_seconds}; it must be at least 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageConfig:
    max_html_bytes: int
    max_tags: int
    max_attributes: int
    trusted_bytes: int
    max_blocks: int
    max_path_chars: int
    max_tokens: int
    max_seconds: int

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            _at_least(f"page.{field.name}", getattr(self, field.name), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateConfig:
    tokens: str
    min_shingles: int

    def __post_init__(self) -> None:
        _one_of("template.tokens", self.tokens, ("path", "layer"))
        _at_least("template.min_shingles", self.min_shingles, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LshConfig:
    threshold: float
    permutations: int
    seed: int
    threshold_by_site: Mapping[str, float]

    def __post_init__(self) -> None:
        _at_least("lsh.permutations", self.permutations, 2)
        for name, value in {"": self.threshold, **self.threshold_by_site}.items():
            if not 0 < value < 1:
                field = f"lsh.threshold_by_site.{name}" if name else "lsh.threshold"
                raise ConfigError(f"{field} is {value}; it must lie between 0 and 1")

    def threshold_of(self, site: str) -> float:
        return self.threshold_by_site.get(site, self.threshold)


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketConfig:
    cap: int
    whole_site_bytes: int

    def __post_init__(self) -> None:
        _at_least("bucket.cap", self.cap, 2)
        _at_least("bucket.whole_site_bytes", self.whole_site_bytes, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossConfig:
    per_capture: int

    def __post_init__(self) -> None:
        _at_least("cross.per_capture", self.per_capture, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffConfig:
    exact_limit: int

    def __post_init__(self) -> None:
        _at_least("diff.exact_limit", self.exact_limit, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelConfig:
    by: str
    favor: str
    comments: bool
    classifier: str

    def __post_init__(self) -> None:
        _one_of("label.by", self.by, ("classifier", "T001", "T002"))
        _one_of("label.favor", self.favor, ("precision", "balanced", "recall"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageConfig:
    detect: bool
    min_words: int
    sample_chars: int

    def __post_init__(self) -> None:
        _at_least("language.min_words", self.min_words, 1)
        _at_least("language.sample_chars", self.sample_chars, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicatesConfig:
    """How main texts are compared with each other."""

    find: bool
    threshold: float
    shingle_words: int
    bands: int
    rows: int
    cap: int
    steps: int

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise ConfigError(f"duplicates.threshold is {self.threshold}; it must lie above 0 and be at most 1")
        for name in ("shingle_words", "bands", "rows", "steps"):
            _at_least(f"duplicates.{name}", getattr(self, name), 1)
        _at_least("duplicates.cap", self.cap, 2)

    @property
    def permutations(self) -> int:
        """Rows of a signature."""
        return self.bands * self.rows


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusConfig:
    """What `dbce corpus` takes of an output."""

    statuses: tuple[str, ...]
    languages: tuple[str, ...]
    min_words: int
    min_probability: float
    duplicates: str
    within: str

    def __post_init__(self) -> None:
        for status in self.statuses:
            _one_of("corpus.statuses", status, ("crossed", "single"))
        _at_least("corpus.min_words", self.min_words, 0)
        if not 0 <= self.min_probability <= 1:
            raise ConfigError(f"corpus.min_probability is {self.min_probability}; it must lie between 0 and 1")
        _one_of("corpus.duplicates", self.duplicates, ("keep", "exact", "near"))
        _one_of("corpus.within", self.within, ("all", "url"))


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputConfig:
    site_parts: int
    rows_per_file: int

    def __post_init__(self) -> None:
        _at_least("output.site_parts", self.site_parts, 1)
        _at_least("output.rows_per_file", self.rows_per_file, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonConfig:
    """What is odd in a crawl of a collection, beside the one before it."""

    least: int
    share: float
    share_of_site: float
    short_words: int
    captures: float
    captures_of_site: float
    sites: float
    remains: float
    rejects: float
    failed: float
    errors: float

    def __post_init__(self) -> None:
        _at_least("comparison.least", self.least, 1)
        for name in ("captures", "captures_of_site"):
            if not getattr(self, name) > 1:
                raise ConfigError(f"comparison.{name} is {getattr(self, name)}; it must be more than 1")
        for name in ("share", "share_of_site", "sites", "remains", "rejects", "failed"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"comparison.{name} is {getattr(self, name)}; it must lie above 0 and be at most 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquireConfig:
    """How feeds are polled, and what they link to is fetched."""

    user_agent: str
    poll_seconds: float
    max_poll_seconds: float
    delay_seconds: float
    robots_seconds: float
    robots_bytes: int
    attempts: int
    first_wait_seconds: float
    timeout_seconds: float
    answer_seconds: float
    max_bytes: int
    max_redirects: int
    hosts_together: int
    file_bytes: int
    file_seconds: float
    remember_days: float

    def __post_init__(self) -> None:
        if not self.user_agent.strip() or not self.user_agent.isprintable():
            raise ConfigError(
                f"acquire.user_agent is {self.user_agent!r}; it must name you, who run the crawler, in one line"
            )
        for name in ("poll", "max_poll", "robots", "first_wait", "timeout", "answer", "file"):
            if not getattr(self, f"{name}_seconds") > 0:
                raise ConfigError(f"acquire.{name}_seconds is {getattr(self, f'{name}_seconds')}; it must be above 0")
        for name in ("robots_bytes", "attempts", "max_bytes", "hosts_together", "file_bytes", "remember_days"):
            _at_least(f"acquire.{name}", getattr(self, name), 1)
        for name in ("delay_seconds", "max_redirects"):
            _at_least(f"acquire.{name}", getattr(self, name), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamConfig:
    """How much `dbce stream` takes at a time, and how its state is divided."""

    batch_files: int
    batch_bytes: int
    partitions: int

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            _at_least(f"stream.{field.name}", getattr(self, field.name), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DbceConfig:
    """All parameters of a run. `load` makes one; conf/dbce.toml says what each field means."""

    input: InputConfig
    select: SelectConfig
    fetch: FetchConfig
    page: PageConfig
    template: TemplateConfig
    lsh: LshConfig
    bucket: BucketConfig
    cross: CrossConfig
    diff: DiffConfig
    label: LabelConfig
    language: LanguageConfig
    duplicates: DuplicatesConfig
    output: OutputConfig
    corpus: CorpusConfig
    comparison: ComparisonConfig
    acquire: AcquireConfig
    stream: StreamConfig

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for run.json."""
        plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self), default=list))
        return plain


def load(path: str | None = None, settings: Sequence[str] = ()) -> DbceConfig:
    """The shipped parameters, with the file at `path` and then the `settings` ("lsh.threshold=0.3") laid over them.

    Raises:
        ConfigError: a file that cannot be read, an unknown key, a value of the wrong type or out of its range.
    """
    return filled(DbceConfig, "dbce.toml", path, settings)


def shipped(name: str) -> dict[str, Any]:
    """What a file of conf/ says."""
    # As a resource, not a path: the package may be a zip that was given to spark-submit.
    return tomllib.loads((files("dbce_spark") / "conf" / name).read_text(encoding="utf-8"))


def given_over(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a file of conf/ says, with what is given, and not None, laid over it."""
    return shipped(name) | {key: value for key, value in given.items() if value is not None}


def filled(kind: type[Sections], name: str, path: str | None, settings: Sequence[str]) -> Sections:
    """As `load`, but another dataclass of sections, by another file of conf/."""
    merged = shipped(name)
    if path is not None:
        merged = _overlay(merged, _read(path))
    for setting in settings:
        merged = _overlay(merged, _parse_setting(setting))
    config: Sections = _build(kind, merged, "")
    return config


@cache
def default() -> DbceConfig:
    """The shipped parameters."""
    return load()


def _read(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read as a configuration: {error}") from error


def _parse_setting(setting: str) -> dict[str, Any]:
    """ "lsh.threshold=0.3" -> {"lsh": {"threshold": 0.3}}; a value that is no TOML is taken as a string."""
    name, equals, text = setting.partition("=")
    if not equals or "." not in name:
        raise ConfigError(f"--set {setting}: write section.name=value, such as lsh.threshold=0.3")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    section, _, rest = name.partition(".")
    table, dot, key = rest.partition(".")
    return {section: {table: {key: value}} if dot else {rest: value}}


def _overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        both_tables = isinstance(value, Mapping) and isinstance(below.get(key), Mapping)
        merged[key] = _overlay(below[key], value) if both_tables else value
    return merged


def _build(kind: Any, values: Any, name: str) -> Any:
    if not isinstance(values, Mapping):
        raise ConfigError(f"{name} must be a section, not {values!r}")
    hints = get_type_hints(kind)
    unknown = sorted(set(values) - set(hints))
    if unknown:
        known = ", ".join(sorted(hints))
        raise ConfigError(f"{'.'.join(filter(None, (name, unknown[0])))} is no parameter; known here: {known}")
    return kind(**{key: _value(hint, values[key], f"{name}.{key}".lstrip(".")) for key, hint in hints.items()})


def _value(hint: Any, value: Any, name: str) -> Any:
    if dataclasses.is_dataclass(hint):
        return _build(hint, value, name)
    if getattr(hint, "__origin__", None) is tuple and isinstance(value, list):
        return tuple(_value(hint.__args__[0], item, name) for item in value)
    if getattr(hint, "__origin__", None) is Mapping and isinstance(value, Mapping):
        return {str(key): _value(hint.__args__[1], item, f"{name}.{key}") for key, item in value.items()}
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is hint:
        return value
    raise ConfigError(f"{name} is {value!r}; it must be {getattr(hint, '__name__', str(hint))}")


def _one_of(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise ConfigError(f"{name} is {value!r}; it must be one of {', '.join(known)}")


def _at_least(name: str, value: float, bound: int) -> None:
    if value < bound:
        raise ConfigError(f"{name} is {value}; it must be at least {bound}")
