"""Run `dbce labels render`: write how a browser shows pages."""

from collections.abc import Iterator, Sequence
from itertools import chain

from tqdm import tqdm

from dbce_spark.annotation.labels import labels_job
from dbce_spark.annotation.markup import rendering
from dbce_spark.annotation.markup.rendering import Scene
from dbce_spark.annotation.store.workbench_settings import settings
from dbce_spark.errors import InputError, PlatformError, installs
from dbce_spark.html.dom import PageError
from dbce_spark.log import counted


def render(pages: Sequence[str], store: str, output: str, screenshots: str) -> str:
    """Write how a browser shows each page, and return a line that counts them.

    pages: files of them; store: its path, whose pages have what they load with them; "" for none.

    Raises:
        InputError: an input cannot be read, or the browser gives up on a page.
        PlatformError: there is no browser, or what the store needs is not installed.
    """
    scenes = chain(map(rendering.make_scene, labels_job.sheets(pages)), _of_store(store) if store else ())
    shown = tqdm(scenes, desc="shown", unit=" pages", disable=None)
    try:
        count = rendering.write(output, rendering.render(shown, screenshots))
    except PageError as error:
        raise InputError(f"a page cannot be shown: {error}") from error
    return f"{counted(count, 'page')} in {output}"


def _of_store(store: str) -> Iterator[Scene]:
    try:
        from dbce_spark.annotation.web import scenes
    except ImportError as error:
        raise PlatformError(f"{error.name} is not installed; run {installs('annotate')}") from error
    return scenes.make_scenes(store, settings({}))
