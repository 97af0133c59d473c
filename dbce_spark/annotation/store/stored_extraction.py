"""Make the stored form of an extracted page: its segments with the model's labels and scores, and its HTML with their
nodes numbered."""

import json
from collections.abc import Iterable

import numpy as np

from dbce_spark.annotation.markup import numbered_markup
from dbce_spark.annotation.markup.submission import text_digest
from dbce_spark.annotation.store.stored_pages import StoredPage, Unit
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.html.charset import decode
from dbce_spark.model import Extraction, Label, Page, digest


def make_stored(extraction: Extraction, head: str, record: bytes, html: bytes, config: DbceConfig) -> StoredPage:
    """Make the stored form of an extracted page. html: its HTML, the encodings of HTTP undone."""
    page, segments = extraction.page, extraction.segments
    capture, text = page.capture, page.blocks.text
    marked = numbered_markup.number_nodes(decode(html, capture.declared_charset).html, text, segments)
    spans = zip(segments.blocks.tolist(), segments.starts.tolist(), segments.ends.tolist(), strict=True)
    labelled = zip(segments.labels.tolist(), segments.scores.tolist(), strict=True)
    units = tuple(
        Unit(page.blocks.xpaths[block], start, end, Label(label), round(score, 4))
        for (block, start, end), (label, score) in zip(spans, labelled, strict=True)
    )
    return StoredPage(
        page=page.capture_id,
        url=capture.url,
        url_key=capture.url_key,
        site=capture.site,
        timestamp=capture.timestamp,
        archive=capture.warc_file,
        record_id=capture.record_id,
        head=head,
        record=record,
        charset=page.charset,
        title=page.metadata.title,
        language=page.metadata.declared_language,
        words=count_words(page),
        html=marked.html,
        text=text,
        text_digest=text_digest(text[unit.start : unit.end] for unit in units),
        units=units,
        outline=marked.outline,
        model=model_name(config),
        doubt=doubt(units),
    )


def doubt(units: Iterable[Unit]) -> float:
    """Measure how uncertain the model is of a page: how near its scores are to a half, by characters, 0 (sure) to 1."""
    lengths = np.array([unit.end - unit.start for unit in units], np.float64)
    scores = np.array([unit.score for unit in units], np.float64)
    return round(float((lengths * (1 - np.abs(2 * scores - 1))).sum() / max(lengths.sum(), 1)), 4)


def model_name(config: DbceConfig) -> str:
    """Name the source of a page's labels: the rule, or the classifier with a digest of the card that describes it."""
    if config.label.by != "classifier":
        return config.label.by
    card = load_classifier(config.label.classifier).card
    return f"classifier:{digest(json.dumps(dict(card), sort_keys=True))[:12]}"


def count_words(page: Page) -> int:
    """Count the words of a page's text, as `wc` does: between white space (Stemle 2009, 3.2.2)."""
    return len(page.blocks.text.split())
