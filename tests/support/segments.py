"""Records of WARC in segments."""

from tests.support.builders import URL, record

ORIGIN = "<urn:uuid:first>"


def segments(
    block: bytes, count: int, origin: str = ORIGIN, url: str = URL, version: str = "1.0", **more: str
) -> list[bytes]:
    """Cut a response into as many records, the first with its own type, the last with the length of all."""
    size = -(-len(block) // count)
    parts = [block[start : start + size] for start in range(0, len(block), size)]
    made = []
    for nth, part in enumerate(parts, start=1):
        fields = {"WARC_Segment_Number": str(nth), "WARC_Record_ID": origin if nth == 1 else f"<urn:uuid:{nth}>"}
        fields |= {} if nth == 1 else {"WARC_Segment_Origin_ID": origin}
        fields |= {"WARC_Segment_Total_Length": str(len(block))} if nth == len(parts) else {}
        kind = "response" if nth == 1 else "continuation"
        made.append(record(part, kind=kind, url=url, version=version, **fields, **more))
    return made
