"""Pages whose text stands in <noscript>, for readers without scripts, or in shadow roots."""

import pytest

from dbce_spark.html.dom import PageError
from tests.support.builders import body

POST = "It came up in the last release, and nobody here could say why. " * 8
FEW = "<p>Powered by a forum</p>"
ROOT = "<template shadowrootmode=open>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"{FEW}<noscript><h1>A topic</h1><p>{POST}</p></noscript>", ["Powered by a forum", "A topic", POST.strip()]),
        (f"<noscript><div id=main></noscript><h1>A topic</h1>{POST}", ["A topic", POST.strip()]),
        (f"<noscript>{POST}<style>{POST}</style></noscript>", [POST.strip()]),
        (f"<noscript>One<noscript>{POST}", ["One", POST.strip()]),
        (f"<h1>A topic</h1><p>{POST}</p><noscript>{POST}</noscript>", ["A topic", POST.strip()]),
        (f"{FEW}<noscript>Allow scripts in your browser to see this page.</noscript>", ["Powered by a forum"]),
        (f"{FEW}<noscript><script>{POST}</script></noscript>", ["Powered by a forum"]),
        (f"{FEW}<my-page>{ROOT}{POST}<p>{ROOT}One", ["Powered by a forum", POST.strip(), "One"]),
        (f"<p>{POST}</p><my-menu>{ROOT}Menu</template></my-menu>", [POST.strip()]),
        (f"{FEW}<template>{POST}</template>", ["Powered by a forum"]),
        (f"<my-page>{ROOT}{POST}<template>{POST}</template>", [POST.strip()]),
    ],
)
def test_text_for_readers_without_scripts(html: str, expected: list[str]) -> None:
    """It is the page's where it is more than all other text, and none that asks for scripts."""
    assert expected == body(html)


def test_page_that_asks_for_scripts_has_no_text() -> None:
    """A page of nothing but a line that asks for scripts has no text."""
    with pytest.raises(PageError, match="no word"):
        body("<noscript>You need to enable scripts to run this app.</noscript><div id=root></div>")
