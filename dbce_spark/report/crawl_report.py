"""Report on a crawl of a collection: list the odd changes since the one before, as lines or as a page of HTML."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dbce_spark.config import ComparisonConfig
from dbce_spark.errors import OutputError
from dbce_spark.files import storage
from dbce_spark.log import counted
from dbce_spark.output.collection import Collection, Version
from dbce_spark.output.history import crawl_anomalies
from dbce_spark.output.history.crawl_anomalies import Figures, Finding, Site
from dbce_spark.report import crawl_figures, template_likeness
from dbce_spark.report.report_templates import environment

SITES = 50
"""Sites that the page lists, those with the most captures in either crawl."""
KINDS = {
    crawl_anomalies.EMPTY: "nothing new",
    crawl_anomalies.CONTENT: "share of content",
    crawl_anomalies.SHORT: "hardly any main text",
    crawl_anomalies.SINGLE: "pages without siblings",
    crawl_anomalies.CAPTURES: "captures",
    crawl_anomalies.SITES: "sites lost",
    crawl_anomalies.TEMPLATES: "templates lost",
    crawl_anomalies.REJECTS: "refused",
    crawl_anomalies.FAILED: "failed files",
}


@dataclass(frozen=True, slots=True)
class CrawlComparison:
    """The last crawl of a version, the one before it, if any brought something, and the changes that are odd by the
    thresholds. `gone` is the number of the one before where it is there no more by itself."""

    version: Version
    before: Figures | None
    now: Figures
    findings: Sequence[Finding]
    thresholds: ComparisonConfig
    gone: int = 0

    @property
    def within(self) -> str:
        """State the thresholds, for a crawl that has no findings."""
        at = self.thresholds
        return (
            "what differs lies within the thresholds, or is what chance does with so few pages. Shares change by less"
            f" than {100 * at.share:g} points ({100 * at.share_of_site:g} on a site), captures by a factor under"
            f" {at.captures:g} ({at.captures_of_site:g} on a site); refused are less than {100 * at.rejects:g} points"
            f" more, failed files less than {100 * at.failed:g}; odd sites, lost sites and lost templates have less"
            f" than {100 * at.sites:g} % of the captures"
        )

    @property
    def reason_alone(self) -> str:
        """Explain why the crawl is compared with none."""
        if self.gone:
            return (
                f"crawl {self.gone}, the one before, was put together with others and then vacuumed: there is nothing"
                f" to compare {self.now.number} with; the next crawl is compared with {self.now.number}"
            )
        return f"no crawl before increment {self.now.number} brought anything to compare it with"


def compare(collection: Collection, version: Version, config: ComparisonConfig) -> CrawlComparison:
    """Compare the last crawl of a version with the one before it.

    Raises:
        OutputError: an increment cannot be read.
        InputError: the crawl is there no more by itself.
    """
    found = crawl_figures.crawls(collection, version)
    now_figures = crawl_figures.figures(found.now, config)
    if found.before is None:
        return CrawlComparison(version, None, now_figures, [], config, found.gone)
    was = crawl_figures.figures(found.before, config)
    candidates = crawl_anomalies.missing_templates(was, now_figures, config)
    lost = template_likeness.lost_templates(candidates, found, was, config.remains)
    return CrawlComparison(version, was, now_figures, crawl_anomalies.compare(was, now_figures, lost, config), config)


def text(found: CrawlComparison) -> str:
    """Write the odd changes, as lines for a person."""
    if found.before is None:
        return f"version {found.version.number}: {found.reason_alone}"
    crawl = f"increment {found.now.number} beside {found.before.number}"
    if not found.findings:
        return f"version {found.version.number}: nothing odd in {crawl}: {found.within}"
    lines = [f"version {found.version.number}: {counted(len(found.findings), 'thing')} odd in {crawl}"]
    for one in found.findings:
        lines += [
            f"{one.oddness:6.1f}  {KINDS[one.kind]}: {one.message}",
            *(f"        {place}" for place in one.places),
        ]
    return "\n".join(lines)


def write(found: CrawlComparison, folder: str, target: str) -> None:
    """Write the page on the collection in `folder` to the file `target`.

    Raises:
        OutputError: it is a folder, or cannot be written.
    """
    if Path(target).is_dir():
        raise OutputError(f"{target}: is a folder; give a file such as {Path(target) / 'report.html'}")
    template = environment().get_template("crawl.html.j2")
    page = template.render(
        folder=folder,
        found=found,
        kinds=KINDS,
        rows=_rows(found),
        refused=_refused(found),
        sites=_sites(found),
        site_count=len({*found.now.sites} | {*(found.before.sites if found.before else ())}),
        thresholds=asdict(found.thresholds),
    )
    try:
        storage.write_text(target, page)
    except OSError as error:
        raise OutputError(f"{target}: the report cannot be written there: {error}; {storage.remedy(error)}") from error


def _rows(found: CrawlComparison) -> list[dict[str, Any]]:
    """List the figures of both crawls: name, value before and now, and whether these are shares."""
    crawls = [found.before, found.now]
    counts: list[tuple[str, Any]] = [
        ("captures", lambda one: one.captures),
        ("sites", lambda one: len(one.sites)),
        ("templates", lambda one: len(one.templates)),
        ("words", lambda one: one.total.words),
        ("archive files", lambda one: one.files),
        ("files that could not be read", lambda one: one.failed_files),
        ("captures that had come before", lambda one: one.repeated),
        ("records refused", lambda one: sum(one.refused.values())),
    ]
    rows = [
        {"name": name, "is_share": False, "values": [one and count(one) for one in crawls]} for name, count in counts
    ]
    return rows + [
        {"name": KINDS[share.kind], "is_share": True, "values": [one and share.over([one.total]) for one in crawls]}
        for share in crawl_anomalies.SHARES
    ]


def _refused(found: CrawlComparison) -> list[tuple[str, int, int]]:
    """List reasons with their counts before and now, the most frequent now first."""
    before = found.before.refused if found.before else {}
    reasons = sorted({*before, *found.now.refused}, key=lambda one: (-found.now.refused.get(one, 0), one))
    return [(reason, before.get(reason, 0), found.now.refused.get(reason, 0)) for reason in reasons]


def _sites(found: CrawlComparison) -> list[dict[str, Any]]:
    """List the largest sites: captures before and now, and each share before and now; None where there is no
    capture."""
    before = found.before.sites if found.before else {}
    both = {site: (before.get(site, Site()), found.now.sites.get(site, Site())) for site in {*before, *found.now.sites}}
    largest = sorted(both, key=lambda site: (-max(one.captures for one in both[site]), site))[:SITES]
    return [
        {
            "site": site,
            "captures": [one.captures for one in both[site]],
            "shares": [
                [share.over([one]) if one.captures else None for one in both[site]] for share in crawl_anomalies.SHARES
            ],
        }
        for site in largest
    ]
