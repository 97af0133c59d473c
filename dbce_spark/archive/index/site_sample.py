"""A part of an archive that is always the same part: whole sites, so that siblings stay together."""

from hashlib import blake2b

_WHOLE = 1 << 64


def is_sampled(site: str, share: float, seed: int) -> bool:
    """Return whether a site belongs to a sample of this share (0 to 1) of all sites.

    A smaller share of the same seed is a part of a larger one. The hash is of the site's name alone: machines,
    file order and other sites change nothing.
    """
    found = blake2b(f"{seed}\0{site}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(found) < share * _WHOLE
