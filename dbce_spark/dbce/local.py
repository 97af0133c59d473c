"""The whole method in lists and dicts: its definition, and the oracle that the Spark job is held to."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, crosses, pages, postprocess, single
from dbce_spark.dbce.annotate import annotate
from dbce_spark.dbce.merge import merge, resolve
from dbce_spark.labels import Label
from dbce_spark.model import Annotation, Extraction, Found, Page
from dbce_spark.rejects import Reject, Skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of every record: `records_read = len(extractions) + len(rejects) + sum(skipped.values())`."""

    records_read: int
    extractions: list[Extraction]
    rejects: list[Reject]
    skipped: Counter[str]


def extract(paths: Iterable[str], config: DbceConfig) -> Result:
    """The extractions of all captures in some files, in order of capture id."""
    records = [record for path in paths for record in pages.read(path, config)]
    read = [record for record in records if isinstance(record, Page)]
    unique = pages.unique(read)
    skips = [record for record in records if isinstance(record, Skip)] + [pages.DUPLICATE] * (len(read) - len(unique))
    return Result(
        records_read=len(records),
        extractions=extractions(unique, config),
        rejects=[record for record in records if isinstance(record, Reject)],
        skipped=Counter(skip.filter for skip in skips),
    )


def extractions(unique: list[Page], config: DbceConfig) -> list[Extraction]:
    """The extractions of some pages, each set beside its siblings and snapshots among them."""
    found = crosses.select(find(unique, config), per_capture=config.cross.per_capture)
    tokens = {page.capture_id: page.blocks.tokens for page in unique}
    of_capture: dict[str, list[Found]] = defaultdict(list)
    annotations: dict[str, list[Annotation]] = defaultdict(list)
    for one in found:
        of_capture[one.cross.cur].append(one)
    for annotation in annotate([one.cross for one in found], tokens, exact_limit=config.diff.exact_limit):
        annotations[annotation.cross.cur].append(annotation)
    return [
        extraction(
            page, annotations[page.capture_id], crosses.template_id(of_capture[page.capture_id]), config.label.undecided
        )
        for page in unique
    ]


def find(unique: Iterable[Page], config: DbceConfig) -> Iterable[Found]:
    """The crosses that each bucket finds by itself: the same ones again and again."""
    for key, members in buckets.members_of(unique).items():
        for part, some in buckets.parts(members, config.bucket.cap).items():
            yield from crosses.find(key, some, bucket_size=len(members), part=part, cap=config.bucket.cap)


def extraction(page: Page, annotations: list[Annotation], template_id: str, test_case: str) -> Extraction:
    """The result of one capture from all its annotations, or from the page alone where there are none."""
    evidence = merge(*({annotation.cross.cross_id: annotation} for annotation in annotations))
    if evidence:
        undecided = Label.BOILERPLATE if test_case == "T002" else Label.UNDECIDED
        segments = resolve(page.blocks, evidence.values(), undecided=undecided)
        text = postprocess.text(page.blocks.text, segments)
    else:
        segments = single.segments(page.blocks)
        text = single.text(page.blocks)
    return Extraction(
        page=page,
        status="crossed" if evidence else "single",
        template_id=template_id,
        crosses=tuple(evidence[cross_id].cross for cross_id in sorted(evidence)),
        segments=segments,
        text=text,
    )
