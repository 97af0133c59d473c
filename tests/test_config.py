"""Configuration: the shipped file, what is laid over it, and what is refused."""

from pathlib import Path

import pytest

from dbce_spark.config import default, flat, load, unlike
from dbce_spark.errors import ConfigError
from dbce_spark.streaming.urltree import urltree_settings as urltree


def refusal(*settings: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(settings=settings)
    return str(caught.value)


def test_shipped_parameters_are_valid() -> None:
    """The shipped file fills every field."""
    config = load()

    assert (0.6, 128, 256) == (config.lsh.threshold, config.lsh.permutations, config.bucket.cap)


def test_default_is_what_is_shipped() -> None:
    """`default` is `load` without arguments."""
    assert default() == load()


def test_set_lays_one_value_over_the_file() -> None:
    """`--set` changes its field and no other."""
    expected = load().as_dict()
    expected["lsh"]["threshold"] = 0.3
    actual = load(settings=["lsh.threshold=0.3"]).as_dict()

    assert expected == actual


def test_later_settings_win() -> None:
    """The last of two settings of one field counts."""
    assert load(settings=["bucket.cap=7", "bucket.cap=9"]).bucket.cap == 9


def test_set_takes_strings_without_quotes() -> None:
    """A value that is no TOML is a string."""
    assert load(settings=["input.site=host"]).input.site == "host"


def test_set_takes_lists() -> None:
    """A value may be any TOML."""
    assert load(settings=["input.statuses=[200, 404]"]).input.statuses == (200, 404)


def test_whole_number_is_a_float_where_one_is_asked_for() -> None:
    """0 < threshold < 1 refuses the value 1, not its type."""
    assert refusal("lsh.threshold=1") == "lsh.threshold is 1.0; it must lie between 0 and 1"


def test_file_is_laid_over_the_shipped_one(tmp_path: Path) -> None:
    """A file of one's own needs to hold only what it changes."""
    path = tmp_path / "my.toml"
    path.write_text("[bucket]\ncap = 32\n")
    config = load(str(path))

    assert (32, 0.6) == (config.bucket.cap, config.lsh.threshold)


def test_a_byte_order_mark_before_a_file_is_passed_over(tmp_path: Path) -> None:
    """As editors on Windows write it."""
    own = tmp_path / "own.toml"
    own.write_bytes(b"\xef\xbb\xbf[lsh]\nthreshold = 0.3\n")

    assert 0.3 == load(str(own)).lsh.threshold


def test_settings_go_over_the_file(tmp_path: Path) -> None:
    """`--set` has the last word."""
    path = tmp_path / "my.toml"
    path.write_text("[bucket]\ncap = 32\n")

    assert load(str(path), ["bucket.cap=64"]).bucket.cap == 64


def test_threshold_of_a_site(tmp_path: Path) -> None:
    """A site may have a threshold of its own; all others keep the common one."""
    path = tmp_path / "my.toml"
    path.write_text('[lsh.threshold_by_site]\n"chefkoch.de" = 0.3\n')
    lsh = load(str(path)).lsh

    assert (0.3, 0.6) == (lsh.threshold_of("chefkoch.de"), lsh.threshold_of("example.org"))


def test_threshold_of_a_site_by_setting() -> None:
    """The dots of a site's name are no sections."""
    assert load(settings=["lsh.threshold_by_site.www.chefkoch.de=0.3"]).lsh.threshold_of("www.chefkoch.de") == 0.3


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("bucket.cap=1", "bucket.cap is 1; it must be at least 2"),
        ("cross.per_capture=0", "cross.per_capture is 0; it must be at least 1"),
        ("diff.exact_limit=0", "diff.exact_limit is 0; it must be at least 1"),
        ("template.min_shingles=0", "template.min_shingles is 0; it must be at least 1"),
        ("page.max_tokens=0", "page.max_tokens is 0; it must be at least 1"),
        ("page.max_html_bytes=0", "page.max_html_bytes is 0; it must be at least 1"),
        ("input.max_record_bytes=0", "input.max_record_bytes is 0; it must be at least 1"),
        ("output.site_parts=0", "output.site_parts is 0; it must lie between 1 and 10000"),
        ("output.site_parts=10001", "output.site_parts is 10001; it must lie between 1 and 10000"),
        ("output.rows_per_file=0", "output.rows_per_file is 0; it must be at least 1"),
        ("lsh.permutations=1", "lsh.permutations is 1; it must lie between 2 and 1024"),
        ("lsh.permutations=100000000", "lsh.permutations is 100000000; it must lie between 2 and 1024"),
        ("duplicates.bands=100000000", "duplicates.bands is 100000000; it must lie between 1 and 128"),
        ("lsh.seed=-1", "lsh.seed is -1; it must lie between 0 and 4294967295"),
        ("page.max_seconds=9999999999", "page.max_seconds is 9999999999; it must lie between 1 and 86400"),
        ("duplicates.shingle_words=1001", "duplicates.shingle_words is 1001; it must lie between 1 and 1000"),
        ("lsh.threshold=0.0", "lsh.threshold is 0.0; it must lie between 0 and 1"),
        ("lsh.threshold_by_site.a.org=2.0", "lsh.threshold_by_site.a.org is 2.0; it must lie between 0 and 1"),
        ("input.site=page", "input.site is 'page'; it must be one of domain, host, none"),
        ("template.tokens=tag", "template.tokens is 'tag'; it must be one of path, layer"),
        ("label.by=T009", "label.by is 'T009'; it must be one of classifier, T001, T002"),
        ("comparison.least=0", "comparison.least is 0; it must be at least 1"),
        ("comparison.captures=1", "comparison.captures is 1.0; it must be above 1"),
        ("comparison.share=0", "comparison.share is 0.0; it must lie above 0 and be at most 1"),
        ("comparison.errors=0", "comparison.errors is 0.0; it must be above 0"),
        ("comparison.short_words=-1", "comparison.short_words is -1; it must be at least 0"),
        ("label.favor=much", "label.favor is 'much'; it must be one of precision, balanced, recall"),
    ],
)
def test_value_out_of_its_range(setting: str, expected: str) -> None:
    """The error names field, value and bound."""
    actual = refusal(setting)

    assert expected == actual


@pytest.mark.parametrize("setting", ["bucket.cap=2", "cross.per_capture=1", "lsh.permutations=2", "lsh.threshold=0.99"])
def test_bound_itself_is_allowed(setting: str) -> None:
    """A value at its bound is in its range."""
    section, field = setting.partition("=")[0].split(".")

    assert str(load(settings=[setting]).as_dict()[section][field]) == setting.partition("=")[2]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("bucket.cap=many", "bucket.cap is 'many'; it must be int"),
        ("bucket.cap=2.5", "bucket.cap is 2.5; it must be int"),
        ("bucket.cap=true", "bucket.cap is True; it must be int"),
        ("lsh.threshold=high", "lsh.threshold is 'high'; it must be float"),
        ("lsh.threshold=true", "lsh.threshold is True; it must be float"),
        ("lsh.threshold=0.3\nbucket.cap = 9", "lsh.threshold is '0.3\\nbucket.cap = 9'; it must be float"),
        (f"lsh.threshold={10**400}", f"lsh.threshold is {10**400}; it must be float"),
        (f"lsh.threshold={'1' * 5000}", f"lsh.threshold is {'1' * 5000!r}; it must be float"),
        ("input.statuses=[200, 'x']", "input.statuses is 'x'; it must be int"),
        ("input.statuses=200", "input.statuses is 200; it must be a list, such as [200]"),
        ("input.mimes=text/html", "input.mimes is 'text/html'; it must be a list, such as ['text/html']"),
        ("lsh.threshold_by_site=1", "lsh.threshold_by_site is 1; it must be a table"),
        ("lsh.threshold_by_site.a.org=x", "lsh.threshold_by_site.a.org is 'x'; it must be float"),
    ],
)
def test_value_of_the_wrong_type(setting: str, expected: str) -> None:
    """The error names field, value and type; a truth value is no number."""
    actual = refusal(setting)

    assert expected == actual


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("bucket.size=3", "bucket.size is no parameter; known here: cap, whole_site_bytes"),
        ("diff.limit=3", "diff.limit is no parameter; known here: exact_limit"),
        (
            "label.undecided=T001",
            "label.undecided is no parameter; known here: by, classifier, comments, content, favor, no_content, title",
        ),
        ("lsh.band.rows=3", "lsh.band is no parameter; known here: permutations, seed, threshold, threshold_by_site"),
    ],
)
def test_unknown_key(setting: str, expected: str) -> None:
    """The error names the key and those that are known in its place."""
    actual = refusal(setting)

    assert expected == actual


def test_unknown_section() -> None:
    """A section that does not exist is refused like a key."""
    assert refusal("buckets.cap=3").startswith("buckets is no parameter; known here: acquire, bucket, comparison")


@pytest.mark.parametrize("setting", ["cap=3", "bucket.cap", "bucket"])
def test_setting_that_is_none(setting: str) -> None:
    """A setting needs a section, a name and a value."""
    assert refusal(setting) == f"--set {setting}: write section.name=value, such as lsh.threshold=0.3"


def test_section_that_is_a_value(tmp_path: Path) -> None:
    """A section cannot be a number."""
    path = tmp_path / "my.toml"
    path.write_text("bucket = 3\n")
    with pytest.raises(ConfigError, match="bucket must be a section, not 3"):
        load(str(path))


@pytest.mark.parametrize(
    "content",
    [None, b"[bucket\n", b"\xff\xfe", b"a = " + b"[" * 5_000],
    ids=["missing", "no TOML", "no UTF-8", "too deep"],
)
def test_file_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    """The error names the file."""
    path = tmp_path / "my.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"my\.toml: cannot be read as a configuration: "):
        load(str(path))


def test_as_dict_is_plain() -> None:
    """run.json gets numbers, strings, lists and dicts."""
    actual = load().as_dict()

    assert ["text/html", "application/xhtml+xml"] == actual["input"]["mimes"]


@pytest.mark.parametrize("given", ["", "/srv/own.npz", "s3://bucket/own.npz"])
def test_as_dict_has_the_whole_path_of_a_classifier(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads run.json may stand in another folder. The run has the path as it was given: workers on a cluster
    may have the file under this name in folders of their own."""
    monkeypatch.chdir(tmp_path)
    config = load(settings=["label.classifier=own.npz"])

    assert str(tmp_path / "own.npz") == config.as_dict()["label"]["classifier"]
    assert "own.npz" == config.label.classifier
    assert given == load(settings=[f"label.classifier={given}"]).as_dict()["label"]["classifier"]


def test_the_path_of_a_classifier_makes_no_settings_unlike() -> None:
    """A digest that stands with them does: the file may have been moved, and noted by less than its whole path."""
    before = {"config": load(settings=["label.classifier=own.npz"]).as_dict(), "classifier": "a"}
    now = {"config": load(settings=["label.classifier=/srv/own.npz"]).as_dict(), "classifier": "b"}

    assert ['classifier was "a", is "b"'] == [*unlike(before, now)]


@pytest.mark.parametrize("above", ["", "config."])
def test_settings_of_before_a_parameter_had_its_default(above: str) -> None:
    """A collection or stream begun without a parameter is extended by its default, and by no other value."""
    before = flat(default().as_dict(), above)
    del before[f"{above}page.max_tags"]
    now = flat(load(settings=["page.max_tags=9"]).as_dict(), above)

    assert [] == [*unlike(before, flat(default().as_dict(), above))]
    assert [f"{above}page.max_tags was {default().page.max_tags}, is 9"] == [*unlike(before, now)]
    assert ["urltree.learn.least was 5, is 9"] == [*unlike({}, {"urltree": {"learn": {"least": 9}}})]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("select.sample=0", "select.sample is 0.0; it must lie above 0 and be at most 1"),
        ("select.sample=1.5", "select.sample is 1.5; it must lie above 0 and be at most 1"),
        ("fetch.attempts=0", "fetch.attempts is 0; it must be at least 1"),
        ("fetch.gap_bytes=-1", "fetch.gap_bytes is -1; it must be at least 0"),
        ("fetch.timeout_seconds=0", "fetch.timeout_seconds is 0.0; it must be above 0"),
        ("input.max_failed_files=5", "input.max_failed_files is 5.0; it must lie between 0 and 1"),
        ("input.records_per_task=0", "input.records_per_task is 0; it must be at least 1"),
    ],
)
def test_bounds_of_a_selection(setting: str, message: str) -> None:
    """Shares, counts and seconds that make no sense are refused by name and bound."""
    assert message == refusal(setting)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("blocks.hash=crc", "blocks.hash is 'crc'; it must be one of xxh3, md5"),
        ("label.c_max=-1", "label.c_max is -1; it must be at least 0"),
        ("window.max_documents=65536", "window.max_documents is 65536; it must lie between 1 and 65535"),
        ("window.min_documents=10001", "window.min_documents is 10001; it must be at most max_documents, 10000"),
        ("window.confirmed_by=101", "window.confirmed_by is 101; it must be at most confirmed_among, 100"),
        ("learn.least=41", "learn.least is 41; it must be at most documents, 40"),
        ("keys.rules=[{match='(', keep=[]}]", "keys.rules: '(' is no regular expression: "),
        ("keys.rules=[{keep=[]}]", "keys.rules.match is missing"),
    ],
)
def test_bounds_of_url_tree(setting: str, expected: str) -> None:
    """Other files of conf/ are checked as this one is, with bounds that hang on another field too."""
    with pytest.raises(ConfigError) as caught:
        urltree.load(settings=[setting])

    assert str(caught.value).startswith(expected)
