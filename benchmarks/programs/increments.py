"""`python -m tests.increments FOLDER [SETTING]...`: what ten crawls of the same sites take as increments, in processor
seconds of plain Python, each beside the crawl alone. Whole commands, with Spark:
`python -m benchmarks scale --only collection`.

The crawls are those of `python -m benchmarks scale`, of PAGES pages each. Known pages are held in memory,
where a run reads them.
"""

import sys
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path

from benchmarks.scale import scale_archives
from dbce_spark import config
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, classify, crosses, growth, local, pages, pools
from dbce_spark.model import Annotation, Codes, IndexedCapture, Page, digest

CRAWLS, PAGES = 10, 500
STEPS = ("read", "asked", "heard", "annotated", "judged")
HEAD = f"crawl  alone {' '.join(f'{name:>9}' for name in STEPS)}   ratio  known  asked  relabelled"


@dataclass
class Grown:
    """All pages that are known, with what others said of each when it was labelled last, as a digest."""

    config: DbceConfig
    pages: dict[str, Page] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        started = time.process_time()
        yield
        self.seconds[name] += time.process_time() - started

    def read(self, folder: str) -> list[Page]:
        """The pages of a crawl that are not known."""
        found = [one for path in sorted(Path(folder).glob("*.warc.gz")) for one in pages.read(str(path), self.config)]
        unique = pages.unique([one for one in found if isinstance(one, Page)])
        return [one for one in unique if one.capture_id not in self.pages]

    def extend(self, new: Sequence[Page]) -> tuple[int, int]:
        """Labels new pages, and known ones of which something else is said. Returns how many of these were asked, and
        how many are labelled again."""
        known = {*self.pages}
        self.pages |= {one.capture_id: one for one in new}
        of_site = defaultdict(list)
        for one in self.pages.values():
            of_site[one.capture.site].append(one)
        asked = relabelled = 0
        for site in sorted({one.capture.site for one in new}):
            affected, changed = self._site(of_site[site], known)
            asked, relabelled = asked + len(affected & known), relabelled + len(changed & known)
        return asked, relabelled

    def _site(self, some: Sequence[Page], known: Collection[str]) -> tuple[set[str], set[str]]:
        """Of one site the captures that were asked, and those that are labelled."""
        standing = [_standing(one) for one in some]
        with self.step("asked"):
            asked = growth.affected_captures(standing, {one.capture_id for one in some} - {*known}, set(), self.config)
        with self.step("heard"):
            by_siblings, by_snapshots = self._heard(asked)
        with self.step("annotated"):
            annotated = local.annotate_crosses([one.cross for one in asked.crosses], some, self.config)
        by_capture = groupby(asked.crosses, lambda one: one.cross.cur)
        templates = {cur: crosses.template_id(found) for cur, found in by_capture}
        gathered = []
        for one in some:
            key = one.capture_id
            if key in asked.affected:
                said = _digest(
                    templates.get(key, ""), annotated.get(key, []), by_siblings.get(key), by_snapshots.get(key)
                )
                if self.told.get(key) != said:
                    evidence = pools.page_evidence(one, by_siblings.get(key), by_snapshots.get(key))
                    gathered.append(local.gather(one, annotated.get(key, []), evidence, templates.get(key, "")))
                self.told[key] = said
        with self.step("judged"):
            local.label_pages(gathered, self.config.label)
        return asked.affected, {one.page.capture_id for one in gathered}

    def _heard(self, asked: growth.AffectedCaptures) -> tuple[dict[str, Codes], dict[str, Codes]]:
        judge = partial(classify.load_classifier, self.config.label.classifier)
        by_siblings: dict[str, Codes] = {}
        by_snapshots: dict[str, Codes] = {}
        for heard, wanted in asked.siblings:
            by_siblings |= judge().of_siblings([pools.page_features(self.pages[one]) for one in heard], wanted)
        for heard, wanted in asked.snapshots:
            said = judge().of_snapshots([pools.page_features(self.pages[one]) for one in heard])
            by_snapshots |= {one: said[one] for one in wanted if one in said}
        return by_siblings, by_snapshots


def _standing(page: Page) -> IndexedCapture:
    return IndexedCapture(
        capture_id=page.capture_id,
        url_key=page.capture.url_key,
        timestamp=page.capture.timestamp,
        member=buckets.member(page),
        has_features=page.features is not None,
    )


def _digest(template: str, annotated: Sequence[Annotation], *heard: Codes | None) -> str:
    """What others say of a capture."""
    ordered = sorted(annotated, key=lambda one: one.cross.cross_id)
    told = [f"{one.cross} {one.ends.tobytes().hex()} {one.bits.tobytes().hex()}" for one in ordered]
    return digest(template, *told, *("" if one is None else one.tobytes().hex() for one in heard))


def main(folder: Path, settings: Sequence[str]) -> None:
    """Prints a line a crawl."""
    grown = Grown(config.load(settings=["language.detect=false", *settings]))
    classify.load_classifier(grown.config.label.classifier)
    print(HEAD)
    for number, crawl in enumerate(scale_archives.crawls(folder, CRAWLS, PAGES, 0), 1):
        grown.seconds.clear()
        with grown.step("read"):
            new = grown.read(crawl.folder)
        with grown.step("alone"):
            local.extract_pages(new, grown.config)
        alone, known = grown.seconds["read"] + grown.seconds["alone"], len(grown.pages)
        asked, relabelled = grown.extend(new)
        steps = [grown.seconds[name] for name in STEPS]
        shown = " ".join(f"{one:9.2f}" for one in steps)
        print(
            f"{number:5}{alone:7.2f} {shown}{sum(steps) / alone:8.2f}{known:7,}{asked:7,}{relabelled:12,}", flush=True
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
