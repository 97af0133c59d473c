"""Find what changed oddly between a crawl and the one before it, from the figures of both.

Shares are compared site by site: what is expected of a crawl is what the one before had on each of its sites, so that
another mix of sites is nothing odd. What few captures may bring about by chance is nothing odd either.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeVar

from dbce_spark.config import ComparisonConfig
from dbce_spark.log import counted, percent

Template = tuple[str, str]
"""A site, and the id of one of its templates."""

EMPTY, CONTENT, SHORT, SINGLE, CAPTURES, SITES, TEMPLATES, REJECTS, FAILED = (
    "empty", "content", "short", "single", "captures", "sites", "templates", "rejects", "failed",
)  # fmt: skip
Key = TypeVar("Key", str, Template)
_NAMED = 5
"""Sites or templates that a finding names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The counts of one site in a crawl: captures, of these those without siblings (`single`) and those with hardly any
    main text (`short`); words of all their text, and of their main text."""

    captures: int = 0
    single: int = 0
    short: int = 0
    words: int = 0
    text_words: int = 0

    def __add__(self, other: "Site") -> "Site":
        return Site(
            captures=self.captures + other.captures,
            single=self.single + other.single,
            short=self.short + other.short,
            words=self.words + other.words,
            text_words=self.text_words + other.text_words,
        )


_Pair = tuple[Site, Site]
"""A site in the crawl before, and now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The counts of one crawl. `templates` are its captures by template, `refused` the records that became no capture,
    by reason: rejects, and those passed over for their HTTP status; `repeated` are captures that had come before."""

    number: int
    sites: Mapping[str, Site]
    templates: Mapping[Template, int]
    refused: Mapping[str, int]
    repeated: int
    files: int
    failed_files: int

    @property
    def captures(self) -> int:
        return self.total.captures

    @property
    def total(self) -> Site:
        return sum(self.sites.values(), Site())


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An odd change: its kind, how odd it is (1 is where it begins), a sentence, and the places where it shows most."""

    kind: str
    oddness: float
    message: str
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Share:
    """A share: the fields of Site that are its part and its whole, and phrases for its rise and its fall."""

    kind: str
    part: str
    whole: str
    rises: str
    falls: str

    def over(self, sites: Iterable[Site]) -> float:
        """Divide the part by the whole, both summed over sites; 0 of nothing."""
        counts = [(getattr(site, self.part), getattr(site, self.whole)) for site in sites]
        return _quotient(sum(part for part, _ in counts), sum(whole for _, whole in counts))


SHARES = (
    _Share(CONTENT, "text_words", "words", "More of the words are main text", "Less of the words is main text"),
    _Share(SHORT, "short", "captures", "More captures have hardly any main text", "Fewer captures have hardly any"),
    _Share(SINGLE, "single", "captures", "More pages have no siblings", "Fewer pages have no siblings"),
)


def compare(before: Figures, now: Figures, lost: Sequence[Template], config: ComparisonConfig) -> list[Finding]:
    """List the odd changes, the oddest first; none in an ordinary crawl. `lost` are those of `missing_templates` that
    no page is like any more."""
    found = [*_refused(before, now, config), *_failed(before, now, config)]
    if now.captures:
        found += [one for share in SHARES for one in _share(before, now, share, config)]
        found += [*_captures(before, now, config), *_lost_sites(before, now, config)]
        found += _lost_templates(before, lost, config)
    else:
        repeated = f"; {counted(now.repeated, 'capture')} had come before" if now.repeated else ""
        found.append(Finding(kind=EMPTY, oddness=1.0, message=f"The crawl brought nothing new{repeated}."))
    return sorted(found, key=lambda one: (-one.oddness, one.kind))


def missing_templates(before: Figures, now: Figures, config: ComparisonConfig) -> list[Template]:
    """List templates with too few captures left: fewer than `remains` of the number to expect by the captures of their
    sites. They may go by another id."""
    found = []
    for template, captures in before.templates.items():
        site = template[0]
        had, has = (one.sites.get(site, Site()).captures for one in (before, now))
        expected = captures * has / max(had, 1)
        enough = min(captures, expected) >= config.least
        if enough and now.templates.get(template, 0) < config.remains * expected:
            found.append(template)
    return sorted(found)


def _share(before: Figures, now: Figures, share: _Share, config: ComparisonConfig) -> Iterator[Finding]:
    """Report a share that changed over all sites, or on some of them."""
    both = {site: (before.sites[site], now.sites[site]) for site in sorted(now.sites) if site in before.sites}
    expected, found = _expected(share, both.values()), share.over(one for _, one in both.values())
    captures = [sum(pair[at].captures for pair in both.values()) for at in (0, 1)]
    oddness = _odd(expected, found, captures, config.share, config.errors)
    large = {site: pair for site, pair in both.items() if min(one.captures for one in pair) >= config.least}
    odd = {site: _odd_on_site(share, pair, config) for site, pair in large.items()}
    changed = {site: large[site] for site in odd if odd[site] >= 1}
    is_on_sites = bool(changed) and _captures_now(changed) >= config.sites * _captures_now(large)
    if oddness >= 1:
        message = (
            f"{_direction(share, found - expected)}: {percent(found)}, where {percent(expected)} was to be expected."
        )
    elif is_on_sites:
        change = share.over(one for _, one in changed.values()) - _expected(share, changed.values())
        message = f"{_direction(share, change)} on {counted(len(changed), 'site')}; over all of them {percent(found)}."
    else:
        return
    shown = _places(share, changed or large)
    worst = max((odd[site] for site in changed), default=0.0) if is_on_sites else 0.0
    yield Finding(kind=share.kind, oddness=max(oddness, worst), message=message, places=_first(shown))


def _places(share: _Share, sites: Mapping[str, _Pair]) -> list[str]:
    """List sites with their share before and now, those first that change the whole most."""
    shares = {site: (share.over(pair[:1]), share.over(pair[1:])) for site, pair in sites.items()}
    weights = {site: abs(now - was) * sites[site][1].captures for site, (was, now) in shares.items()}
    ordered = sorted((site for site in sites if weights[site]), key=lambda site: (-weights[site], site))
    return [f"{site}: {percent(shares[site][1])}, was {percent(shares[site][0])}" for site in ordered]


def _expected(share: _Share, both: Iterable[_Pair]) -> float:
    """Compute the share that sites would have now if each were as it was."""
    wholes = [(share.over([before]), getattr(now, share.whole)) for before, now in both]
    expected: float = sum(one * whole for one, whole in wholes) / max(sum(whole for _, whole in wholes), 1)
    return expected


def _odd_on_site(share: _Share, pair: _Pair, config: ComparisonConfig) -> float:
    captures = [one.captures for one in pair]
    return _odd(share.over(pair[:1]), share.over(pair[1:]), captures, config.share_of_site, config.errors)


def _direction(share: _Share, change: float) -> str:
    return share.rises if change > 0 else share.falls


def _captures_now(sites: Mapping[str, _Pair]) -> int:
    return sum(now.captures for _, now in sites.values())


def _odd(expected: float, found: float, captures: Sequence[int], threshold: float, errors: float) -> float:
    """Divide the change of a share by the allowed change: the threshold, or, if that is more, `errors` standard errors
    of the difference between two crawls of so many captures."""
    middle = min((expected + found) / 2, 1.0)  # words of a text are counted by themselves, and may be one more
    error = sqrt(middle * (1 - middle) * sum(1 / max(one, 1) for one in captures))
    return abs(found - expected) / max(threshold, errors * error)


def _captures(before: Figures, now: Figures, config: ComparisonConfig) -> Iterator[Finding]:
    """Report far more or far fewer captures, over all sites or on some."""
    both = {site: (before.sites[site].captures, now.sites[site].captures) for site in now.sites if site in before.sites}
    had, has = (sum(counts[at] for counts in both.values()) for at in (0, 1))
    oddness = _odd_count(had, has, config.captures, config.errors)
    odd = {site: _odd_count(*counts, config.captures_of_site, config.errors) for site, counts in both.items()}
    changed = {site: counts for site, counts in both.items() if odd[site] >= 1}
    is_on_sites = bool(changed) and sum(map(max, changed.values())) >= config.sites * max(had, has)
    if oddness >= 1:
        message = f"{counted(has, 'capture')} of sites of which the crawl before had {had:,}."
    elif is_on_sites:
        message = f"{counted(len(changed), 'site')} with far more or far fewer captures than in the crawl before."
    else:
        return
    places = sorted(changed, key=lambda site: (-max(changed[site]), site))
    shown = [f"{site}: {counted(changed[site][1], 'capture')} after {changed[site][0]:,}" for site in places]
    worst = max((odd[site] for site in changed), default=0.0) if is_on_sites else 0.0
    yield Finding(kind=CAPTURES, oddness=max(oddness, worst), message=message, places=_first(shown))


def _lost_sites(before: Figures, now: Figures, config: ComparisonConfig) -> Iterator[Finding]:
    gone = {site: one.captures for site, one in before.sites.items() if site not in now.sites}
    large = {site: captures for site, captures in gone.items() if captures >= config.least}
    share = _quotient(sum(large.values()), before.captures)
    if not large or share < config.sites:
        return
    places = [f"{site}: had {large[site]:,} captures" for site in _largest(large)]
    message = (
        f"{counted(len(large), 'site')} of the crawl before, with {percent(share)} of its captures, not in this one."
    )
    yield Finding(kind=SITES, oddness=share / config.sites, message=message, places=_first(places))


def _lost_templates(before: Figures, lost: Sequence[Template], config: ComparisonConfig) -> Iterator[Finding]:
    captures = {template: before.templates[template] for template in lost}
    share = _quotient(sum(captures.values()), before.captures)
    if not captures or share < config.sites:
        return
    places = [
        f"{site}, template {name[:8]}: had {captures[site, name]:,} captures" for site, name in _largest(captures)
    ]
    message = (
        f"{counted(len(captures), 'template')} with {percent(share)} of the captures of the crawl before: hardly any"
        " page of this one is built so, though their sites were crawled. Redesigned, or something else came instead."
    )
    yield Finding(kind=TEMPLATES, oddness=share / config.sites, message=message, places=_first(places))


def _refused(before: Figures, now: Figures, config: ComparisonConfig) -> Iterator[Finding]:
    """Report reasons for which a larger share of the records became no capture."""
    wholes = [one.captures + one.repeated + sum(one.refused.values()) for one in (before, now)]
    for reason in sorted(now.refused):
        was, share = (
            _quotient(one.refused.get(reason, 0), whole) for one, whole in zip((before, now), wholes, strict=True)
        )
        oddness = _odd(was, share, wholes, config.rejects, config.errors)
        if share > was and oddness >= 1:
            shares = f"{percent(share)} of what came, after {percent(was)}"
            message = f"{counted(now.refused[reason], 'record')} refused as {reason}: {shares}."
            yield Finding(kind=REJECTS, oddness=oddness, message=message)


def _failed(before: Figures, now: Figures, config: ComparisonConfig) -> Iterator[Finding]:
    was, share = (_quotient(one.failed_files, one.files) for one in (before, now))
    if share - was >= config.failed:
        message = (
            f"{now.failed_files:,} of {counted(now.files, 'file')} could not be read, after {percent(was)} in the"
            " crawl before."
        )
        yield Finding(kind=FAILED, oddness=(share - was) / config.failed, message=message)


def _odd_count(was: int, count: int, factor: float, errors: float) -> float:
    """Divide the change of a count by the allowed change: of its factor, or, if that leaves less, by `errors` standard
    errors of the difference."""
    larger = max(was, count) / max(min(was, count), 1)
    return min(larger / factor, abs(count - was) / (errors * sqrt(max(was + count, 1))))


def _quotient(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _largest(counts: Mapping[Key, int]) -> list[Key]:
    return sorted(counts, key=lambda one: (-counts[one], one))


def _first(places: Sequence[str]) -> tuple[str, ...]:
    more = len(places) - _NAMED
    return (*places[:_NAMED], *([f"and {more:,} more"] if more > 0 else []))
