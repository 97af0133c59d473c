"""The parameters of a run: frozen dataclasses filled from conf/dbce.toml.

No default stands here; each is written once, there.
"""

import dataclasses
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_origin, get_type_hints

from dbce_spark.errors import ConfigError, Parameter


@dataclass(frozen=True, slots=True)
class Bound:
    """A condition on a value, and how an error puts it after "it must"."""

    words: str
    holds: Callable[[Any], bool]


def at_least(least: float) -> Bound:
    """Require a value of at least `least`."""
    return Bound(f"be at least {least}", lambda value: value >= least)


def above(low: float) -> Bound:
    """Require a value above `low`."""
    return Bound(f"be above {low}", lambda value: value > low)


def between(least: float, most: float) -> Bound:
    """Require a value from `least` to `most`, both ends allowed."""
    return Bound(f"lie between {least} and {most}", lambda value: least <= value <= most)


def one_of(*allowed: str) -> Bound:
    """Require one of the allowed texts."""
    return Bound(f"be one of {', '.join(allowed)}", lambda value: value in allowed)


PositiveInt = Annotated[int, at_least(1)]
PositiveFloat = Annotated[float, above(0)]
NonNegativeInt = Annotated[int, at_least(0)]
NonNegativeFloat = Annotated[float, at_least(0)]
Fraction = Annotated[float, between(0, 1)]
Share = Annotated[float, Bound("lie above 0 and be at most 1", lambda value: 0 < value <= 1)]
"""A part of something, and not nothing of it."""
PartialShare = Annotated[float, Bound("lie between 0 and 1", lambda value: 0 < value < 1)]
"""A part of something, and not all of it."""


Settings = TypeVar("Settings")

_CLASSIFIER = "label.classifier"
"""The parameter with the file of a classifier."""

_MOST_CHARS = 60
"""The length of a value that an error names."""

_ONE_LINE = Bound(
    "name you, who run the crawler, in one line", lambda value: bool(value.strip()) and value.isprintable()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InputConfig:
    statuses: tuple[int, ...]
    mimes: tuple[str, ...]
    site: Annotated[str, one_of("domain", "host", "none")]
    patterns: tuple[str, ...]
    page_patterns: tuple[str, ...]
    index_patterns: tuple[str, ...]
    records_per_task: PositiveInt
    max_record_bytes: PositiveInt
    max_head_bytes: PositiveInt
    max_inflated_bytes: NonNegativeInt
    max_inflated_ratio: NonNegativeInt
    max_unpacked_bytes: NonNegativeInt
    max_zip_files: NonNegativeInt
    max_zip_depth: NonNegativeInt
    max_ratio: PositiveInt
    max_failed_files: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectConfig:
    """The filters of records. Each passes what fits one of its values; an empty one passes all."""

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
    sample: Share
    sample_seed: int
    max_wanted: PositiveInt


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchConfig:
    """The sizes and retries of reading ranges of files."""

    gap_bytes: NonNegativeInt
    span_bytes: PositiveInt
    attempts: PositiveInt
    first_wait_seconds: PositiveFloat
    max_wait_seconds: PositiveFloat
    start_jitter_seconds: NonNegativeFloat
    timeout_seconds: PositiveFloat
    max_failed_spans: PositiveInt


@dataclass(frozen=True, slots=True, kw_only=True)
class PageConfig:
    max_html_bytes: PositiveInt
    max_tags: PositiveInt
    max_attributes: PositiveInt
    trusted_bytes: PositiveInt
    max_blocks: PositiveInt
    max_path_chars: PositiveInt
    max_tokens: PositiveInt
    max_seconds: Annotated[int, between(1, 86_400)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateConfig:
    tokens: Annotated[str, one_of("path", "layer")]
    min_shingles: PositiveInt


@dataclass(frozen=True, slots=True, kw_only=True)
class LshConfig:
    threshold: PartialShare
    permutations: Annotated[int, between(2, 1024)]
    seed: Annotated[int, between(0, 2**32 - 1)]
    threshold_by_site: Mapping[str, PartialShare]

    def threshold_of(self, site: str) -> float:
        """Return the threshold of a site."""
        return self.threshold_by_site.get(site, self.threshold)


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketConfig:
    cap: Annotated[int, at_least(2)]
    whole_site_bytes: NonNegativeInt


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossConfig:
    per_capture: PositiveInt


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffConfig:
    exact_limit: PositiveInt


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelConfig:
    by: Annotated[str, one_of("classifier", "T001", "T002")]
    content: Annotated[str, one_of("whole", "article")]
    title: Annotated[str, one_of("keep", "drop")]
    favor: Annotated[str, one_of("precision", "balanced", "recall")]
    no_content: Share
    comments: bool
    classifier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageConfig:
    detect: bool
    min_words: PositiveInt
    sample_chars: Annotated[int, at_least(3)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicatesConfig:
    """The comparison of main texts with each other."""

    find: bool
    threshold: Share
    shingle_words: Annotated[int, between(1, 1_000)]
    bands: Annotated[int, between(1, 128)]
    rows: Annotated[int, between(1, 128)]
    cap: Annotated[int, at_least(2)]
    steps: PositiveInt

    @property
    def permutations(self) -> int:
        """Return the rows of a signature."""
        return self.bands * self.rows


STATUSES = ("crossed", "single")
"""Of an extracted page (column status): compared with siblings, or judged alone."""

FLAGS = {
    "charset_errors": "bytes that are not in the page's charset were replaced",
    "deep": "the parser stopped at a depth of 2,048 elements; what follows is not there",
    "few_shingles": "too little structure to be compared with other pages",
    "too_many_blocks": "too long to be compared with other pages",
    "too_many_tokens": "too long to be compared with other pages",
    "truncated": "words may be missing: the record, or its body, is cut",
    "damaged": "words may be wrong: the record fails its check",
    "digest_differs": "the record's digest is of other bytes: words may be wrong",
    "no_status_line": "stored without an HTTP status line",
    "head_without_end": "the page begins where headers were",
    "chunks_lie": "chunks announced and not there, or there and not announced",
    "chunks_broken": "behind a broken chunk the body is kept as stored",
    "coding_lies": "a content coding announced and not there, or there and not announced",
    "body_short": "the body ends before its length, its last chunk or its compressed stream does",
    "body_damaged": "a compressed stream breaks: what comes before is kept",
    "body_long": "bytes behind the end of the last chunk or compressed stream were passed over",
    "dated_by_url": "the record has no date: that of the replay's URL",
    "dated_by_http": "the record has no date: that of the HTTP header",
    "dated_by_file": "the record has no date: when its file was begun, or what the index says",
    "formats_failed": "of a stream: the formats that were asked for could not be written",
}
"""The flags of pages, with what a person reads of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsConfig:
    """The filters of rows that `dbce corpus` and `dbce export` share. An empty one, and 0, keeps all."""

    sites: tuple[str, ...]
    since: str
    until: str
    statuses: tuple[Annotated[str, one_of(*STATUSES)], ...]
    languages: tuple[str, ...]
    page_types: tuple[str, ...]
    without_flags: tuple[Annotated[str, one_of(*FLAGS)], ...]
    min_confidence: Fraction
    min_words: NonNegativeInt


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusConfig(RowsConfig):
    """The filters by which `dbce corpus` takes texts from an output."""

    min_probability: Fraction
    duplicates: Annotated[str, one_of("keep", "exact", "near")]
    within: Annotated[str, one_of("all", "url")]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputConfig:
    site_parts: Annotated[int, between(1, 10_000)]
    rows_per_file: PositiveInt


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatsConfig:
    """The columns of what is kept of a page beside its text, and their style."""

    columns: tuple[Annotated[str, one_of("text", "markdown", "html", "about")], ...]
    links: Annotated[str, one_of("keep", "drop")]
    tables: Annotated[str, one_of("keep", "drop")]
    images: Annotated[str, one_of("keep", "drop")]
    dates: Annotated[str, one_of("declared", "htmldate")]

    @property
    def need_html(self) -> bool:
        """Tell whether they are written from the page's HTML."""
        return not {"markdown", "html", "about"}.isdisjoint(self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonConfig:
    """The bounds beyond which a crawl of a collection is odd, compared with the one before it."""

    least: PositiveInt
    share: Share
    share_of_site: Share
    short_words: NonNegativeInt
    captures: Annotated[float, above(1)]
    captures_of_site: Annotated[float, above(1)]
    sites: Share
    remains: Share
    rejects: Share
    failed: Share
    errors: PositiveFloat


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquireConfig:
    """The polling of feeds, and the fetching of pages that they link to."""

    user_agent: Annotated[str, _ONE_LINE]
    poll_seconds: PositiveFloat
    max_poll_seconds: PositiveFloat
    delay_seconds: NonNegativeFloat
    max_delay_seconds: NonNegativeFloat
    private_addresses: bool
    robots_seconds: PositiveFloat
    robots_bytes: PositiveInt
    attempts: PositiveInt
    first_wait_seconds: PositiveFloat
    timeout_seconds: PositiveFloat
    answer_seconds: PositiveFloat
    max_bytes: PositiveInt
    page_requisites: NonNegativeInt
    feed_bytes: PositiveInt
    feed_items: PositiveInt
    max_redirects: NonNegativeInt
    hosts_together: PositiveInt
    file_bytes: PositiveInt
    file_seconds: PositiveFloat
    remember_days: Annotated[float, at_least(1)]
    searches: PositiveInt
    words_a_search: PositiveInt
    search_seed: NonNegativeInt


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfig:
    """The choice of the engine of `dbce extract`."""

    local_bytes: NonNegativeInt


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamConfig:
    """The method of `dbce stream`, its batch size, and the partitions of its state."""

    by: Annotated[str, one_of("dbce", "urltree")]
    pool_pages: Annotated[int, at_least(2)]
    pool_blocks: PositiveInt
    relabel_pages: tuple[PositiveInt, ...]
    waiting_bytes: PositiveInt
    batch_files: PositiveInt
    batch_bytes: PositiveInt
    partitions: PositiveInt

    def __post_init__(self) -> None:
        if most := next((one for one in self.relabel_pages if one > self.pool_pages), 0):
            raise ConfigError(
                Parameter("stream.relabel_pages"),
                f" has {most}; it must be at most stream.pool_pages, {self.pool_pages}",
            )


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
    formats: FormatsConfig
    corpus: CorpusConfig
    comparison: ComparisonConfig
    acquire: AcquireConfig
    stream: StreamConfig
    engine: EngineConfig

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for run.json: with the whole path of a classifier, as a later run may stand in another
        folder. The run itself has it as it was given: a worker may have the file in its own folder."""
        plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self), default=list))
        classifier = self.label.classifier
        if classifier and "://" not in classifier:  # a URL stays
            plain["label"]["classifier"] = str(Path(classifier).absolute())
        return plain


def load(path: str | None = None, settings: Sequence[str] = (), given: Mapping[str, Any] | None = None) -> DbceConfig:
    """Load the shipped parameters, overlaid by the file at `path`, then by the `settings` ("lsh.threshold=0.3"), and
    last by the values of `given` ({"lsh.threshold": 0.3}).

    Raises:
        ConfigError: a file that cannot be read, an unknown key, a value of the wrong type or out of its range.
    """
    return fill(DbceConfig, "dbce.toml", path=path, settings=settings, given=given)


def fill(
    kind: type[Settings],
    name: str,
    *,
    path: str | None = None,
    settings: Sequence[str] = (),
    given: Mapping[str, Any] | None = None,
) -> Settings:
    """Fill a dataclass from the file `name` of conf/, overlaid by the file at `path`, by `settings` and by the values
    of `given`, by parameter or section, that are not None.

    Raises:
        ConfigError: as `load`.
    """
    merged = shipped(name)
    if path is not None:
        merged = _overlay(merged, _read(path))
    named = [*map(_parse_setting, settings), *((given or {}).items())]
    for parameter, value in named:
        if value is not None:
            merged = _overlay(merged, _nested(parameter, value))
    config: Settings = _build(kind, merged, "")
    return config


@cache
def shipped(name: str) -> Mapping[str, Any]:
    """Read a file of conf/, once."""
    # As a resource, not a path: the package may be a zip that was given to spark-submit.
    return tomllib.loads((files("dbce_spark") / "conf" / name).read_text(encoding="utf-8"))


@cache
def default() -> DbceConfig:
    """Load the shipped parameters, once."""
    return load()


def unlike(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over the differences of two sets of settings, each as a person may read it.

    The file of a classifier is known by the digest that stands with the settings, not by its path: it may have been
    moved. A parameter that older settings lack had the default that conf/ has.
    """
    old, new = flat(before), flat(now)
    parameters = shipped("dbce.toml")
    defaults = flat({**parameters, "config": parameters, "urltree": shipped("urltree.toml")})
    old = {name: defaults[name] for name in new.keys() & defaults} | old
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name) and not name.endswith(_CLASSIFIER):
            yield f"{name} was {_shown(old.get(name))}, is {_shown(new.get(name))}"


def flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Flatten settings to dotted names, as --set has them: {"lsh": {"threshold": 0.5}} -> {"lsh.threshold": 0.5}."""
    by_name: dict[str, Any] = {}
    for name, value in values.items():
        by_name |= flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {f"{above}{name}": value}
    return by_name


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}..."


def _read(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))  # some editors begin a file with a mark
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: cannot be read as a configuration: {error}") from error


def _parse_setting(setting: str) -> tuple[str, Any]:
    """Parse a setting: "lsh.threshold=0.3" gives ("lsh.threshold", 0.3); a value that is no TOML is taken as a
    string."""
    name, equals, text = setting.partition("=")
    if not equals or "." not in name:
        raise ConfigError(f"--set {setting}: write section.name=value, such as lsh.threshold=0.3")
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return name, text
    return name, parsed["value"] if len(parsed) == 1 else text


def _nested(name: str, value: Any) -> dict[str, Any]:
    """Put a value into the tables of its name: {"lsh": {"threshold": 0.3}}. A third part may have dots of its own."""
    *tables, key = name.split(".", 2)
    nested = {key: value}
    for table in reversed(tables):
        nested = {table: nested}
    return nested


def _overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        both_tables = isinstance(value, Mapping) and isinstance(below.get(key), Mapping)
        merged[key] = _overlay(below[key], value) if both_tables else value
    return merged


def _build(kind: Any, values: Any, name: str) -> Any:
    if not isinstance(values, Mapping):
        raise ConfigError(Parameter(name), f" must be a section, not {values!r}")
    hints = get_type_hints(kind, include_extras=True)
    unknown = sorted(set(values) - set(hints))
    if unknown:
        parameters = ", ".join(sorted(hints))
        raise ConfigError(Parameter(_joined(name, unknown[0])), f" is no parameter; known here: {parameters}")
    missing = [key for key in hints if key not in values]
    if missing:
        raise ConfigError(Parameter(_joined(name, missing[0])), " is missing")
    return kind(**{key: _value(hint, values[key], _joined(name, key)) for key, hint in hints.items()})


def _joined(section: str, name: str) -> str:
    return f"{section}.{name}" if section else name


def _value(hint: Any, value: Any, name: str) -> Any:
    if get_origin(hint) is Annotated:
        return _bounded(_value(hint.__origin__, value, name), hint.__metadata__, name)
    if dataclasses.is_dataclass(hint):
        return _build(hint, value, name)
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple(_value(hint.__args__[0], item, name) for item in value)
    if get_origin(hint) is Mapping and isinstance(value, Mapping):
        return {str(key): _value(hint.__args__[1], item, f"{name}.{key}") for key, item in value.items()}
    if hint is float and type(value) is int:
        with suppress(OverflowError):  # of more digits than any float
            return float(value)
    if type(value) is hint:
        return value
    raise ConfigError(Parameter(name), f" is {value!r}; it must be {_kind(hint, value)}")


def _kind(hint: Any, value: Any) -> str:
    """Return what a value must be by its hint, as an error puts it; of a list, with the value that was given alone."""
    if get_origin(hint) is tuple:
        return f"a list, such as {[value]!r}"
    return "a table" if get_origin(hint) is Mapping else getattr(hint, "__name__", str(hint))


def _bounded(value: Any, bounds: Sequence[Bound], name: str) -> Any:
    for bound in bounds:
        if not bound.holds(value):
            raise ConfigError(Parameter(name), f" is {value!r}; it must {bound.words}")
    return value
