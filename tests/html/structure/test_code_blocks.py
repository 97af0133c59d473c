"""Code as its author wrote it."""

import pytest

from tests.support.structure import markdown_of

NUMBERED_ROWS = "".join(f"<tr><td>{at}</td><td><pre>line {at} x</pre></td></tr>" for at in (1, 2, 3))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<pre><code class=language-py>a\n  b</code></pre>", "```py\na\n  b\n```"),
        ("<div class='highlight-source-c'><pre>a</pre></div>", "```c\na\n```"),
        ("<pre class='brush: js'>a</pre>", "```js\na\n```"),
        ("<pre data-lang=Go><code>a</code></pre>", "```go\na\n```"),
        ("<pre>a:<span>\n</span><span>    </span>b</pre>", "```\na:\n    b\n```"),
        ("<pre><div><p><i>1</i></p><p>a</p></div><div><p><i>2</i></p><p>b</p></div></pre>", "```\na\nb\n```"),
        ("<pre>a<br>b</pre>", "```\na\nb\n```"),
        ("<pre><div>a</div><div></div><div>b</div></pre>", "```\na\n\nb\n```"),
        ("<pre><span>1</span> a\n<span>2</span> b</pre>", "```\n a\n b\n```"),
        ("<table><tr><td><pre>1\n2\n3</pre><td><pre>a\nb\nc</pre></table>", "```\na\nb\nc\n```"),
        ("<pre>a<button>Copy</button></pre>", "```\na\n```"),
        ("<pre><code class=language-sh><div>Sh</div><div>a b</div></code></pre>", "```sh\na b\n```"),
        ("<code class=highlight-wrap><pre>a</pre></code>", "```\na\n```"),
        ("<code><pre>a\nb</pre></code>", "```\na\nb\n```"),
        ("<pre><div><i>1</i><div>a</div></div><div><i>2</i><div>b</div></div></pre>", "```\na\nb\n```"),
        ("<p><code>a<br>b</code></p>", "```\na\nb\n```"),
        ("<p><tt>a&nbsp;b</tt> <br>\n<span id=x></span><code>&nbsp;c</code><br></p>", "```\na b\n c\n```"),
        ("<p><tt>a</tt> <tt>b</tt><br><tt>c</tt></p>", "`a` `b`  \n`c`"),
        ("<p><tt>a</tt> b<br><tt>c</tt></p>", "`a` b  \n`c`"),
        ("<p><code style='white-space: pre'>a\nb</code></p>", "```\na\nb\n```"),
        (
            "<div class=language-c><code><table><tr><td><pre>1\n2</pre><td><pre>a\nb</pre></table></code></div>",
            "```c\na\nb\n```",
        ),
        ("<p><code>a<br>b<b style='display:block'>c</b></code></p>", "```\na\nbc\n```"),
        ("<p><code>a</code> b</p>", "`a` b"),
        ("<pre><div><div title=Copy><i></i></div></div><code>{\n  a</code></pre>", "```\n{\n  a\n```"),
        ("<pre class=language-sh><div>sh</div><code>a</code></pre>", "```sh\na\n```"),
        ("<pre>a\n<div></div>b</pre>", "```\na\nb\n```"),
        ("<pre><b style='display:block'>a</b><b style='display:block'>b</b>c</pre>", "```\na\nb\nc\n```"),
        ("<pre>{t: <i>1</i>},\n{t: <i>2</i>}</pre>", "```\n{t: 1},\n{t: 2}\n```"),
        ("<pre><a></a><i>1</i> a<br><i>2</i> b</pre>", "```\n a\n b\n```"),
        ("<pre><b><i>1</i>a</b>\n<b><i>2</i>b</b></pre>", "```\na\nb\n```"),
        ("<pre>a<td>b</td>c</pre>", "```\na b c\n```"),
        ("<pre>10 20\n30 40</pre>", "```\n10 20\n30 40\n```"),
    ],
)
def test_code_is_fenced_with_its_language_and_without_numbers(html: str, expected: str) -> None:
    """Numbers that are the code itself stay."""
    assert f"t\n\n{expected}" == markdown_of(f"<p>t</p>{html}")


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<div class='mw-highlight mw-highlight-lang-c'><pre>a</pre></div>", "c"),
        ("<pre class='sourceCode python'><code class='sourceCode python'>a</code></pre>", "python"),
        ("<pre class=r><code>a</code></pre>", "r"),
        ("<pre><code class='hljs ruby'>a</code></pre>", "ruby"),
        ("<pre class='rust example'>a</pre>", "rust"),
        ("<figure class='highlight python'><pre>a</pre></figure>", "python"),
        ("<div class='highlight hl-ipython3'><pre>a</pre></div>", "ipython3"),
        ("<pre class=gatsby-code-jsx>a</pre>", "jsx"),
        ("<pre name=code class='java:nogutter'>a</pre>", "java"),
        ("<pre lang=csharp>a</pre>", "csharp"),
        ("<pre data-enlighter-language=PHP>a</pre>", "php"),
        ("<pre data-code-block-lang=go>a</pre>", "go"),
        ("<pre class='highlight-height language-ts'>a</pre>", "ts"),
        ("<pre lang=cs>a</pre>", ""),
        ("<div class='post java'><pre>a</pre></div>", ""),
        ("<div class=code data-page-lang=en><pre class=literal-block>a</pre></div>", ""),
    ],
    ids=[
        *("MediaWiki", "Pandoc", "knitr", "highlight.js", "rustdoc", "Hexo", "Jupyter", "Gatsby", "SyntaxHighlighter"),
        *("lang", "Enlighter", "attribute", "known before unknown", "Czech", "another element", "no language"),
    ],
)
def test_the_language_of_code_is_read_where_programs_put_it(html: str, language: str) -> None:
    """By its name among the classes of an element for code, or behind what they put before it."""
    assert f"t\n\n```{language}\na\n```" == markdown_of(f"<p>t</p>{html}")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<div class=fragment><div class=line><a name=l1></a><i>    1</i>{</div>\n"
            "<div class=line><i>    2</i>&#160;</div><div class=line><i>    3</i>}</div><div class=ttc>b</div></div>",
            "```\n{\n\n}\n```\n\nb",
        ),
        (
            "<div class='syntaxhighlighter java'><table><tr>"
            "<td><div class='line n1'>1</div><div class='line n2'>2</div></td>"
            "<td class=code><div><div class='line n1'><code>a</code> <code>b</code></div><div class='line n2'>c</div>"
            "</div></table></div>",
            "```java\na b\nc\n```",
        ),
        (
            "<table><tr><td class=blob-num data-line-number=1><td class=blob-code>a:"
            "<tr><td class=blob-num data-line-number=2><td class=blob-code>  b</table>",
            "```\na:\n  b\n```",
        ),
        ("<table><tr><td>+<td class=blob-code>a<tr><td><td class=blob-code>b</table>", "```\n+ a\nb\n```"),
        (
            "<table><tr><td><div>1</div><div>2</div><td><div class=crayon-line>a</div><div class=crayon-line>b</div>"
            "</table>",
            "```\na\nb\n```",
        ),
        (
            "<div><div class=ltx_listingline><span>1</span><span>a</span></div>"
            "<div class=ltx_listingline><span>2</span><span>  b</span></div></div>",
            "```\na\n  b\n```",
        ),
        ("<div class=line-block><div class=line>a</div><div class=line>b</div></div>", "a\n\nb"),
        ("<div class=code><div class=line>a</div> b <div class=line>c</div></div>", "a\n\nb\n\nc"),
    ],
    ids=["Doxygen", "SyntaxHighlighter", "GitHub", "cells", "Crayon", "LaTeXML", "poem", "text between"],
)
def test_lines_of_code_that_are_elements_are_code(html: str, expected: str) -> None:
    """By the classes of the programs that make them; their numbers go."""
    assert f"t\n\n{expected}" == markdown_of(f"<p>t</p>{html}")


def test_a_button_that_goes_leaves_no_space_before_code() -> None:
    """Its text is not kept; words that only it parted stay apart."""
    assert "a\n\n```\nb\n c d\n```" == markdown_of(
        "<p>a</p><pre><div>Copy</div>b\n c<div>Copy</div>d</pre>", without=["Copy"]
    )


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a <code> </code> b", "a ` ` b"),
        ("<p>a<code>&nbsp;</code>, b", "a` `, b"),
        ("<p>a <code></code> b", "a b"),
        ("<p>a<p><code> </code><p>b", "a\n\nb"),
        ("<p>c <code> </code> c<p>a b", "a b"),
    ],
    ids=["space", "touching", "empty", "alone", "not kept"],
)
def test_a_space_as_code_stays_in_its_line(html: str, expected: str) -> None:
    """It is shown, in a box."""
    assert expected == markdown_of(html, without=["c"])


def test_the_numbers_of_long_code_go_too() -> None:
    """However many they are, in however many elements."""
    numbers = "\n".join(map(str, range(1, 6_001)))

    assert "```\na\nb\n```" == markdown_of(f"<pre><i><b>{numbers}</b></i>\na\nb</pre>")
    assert "```\n1\n2\n4\na\n```" == markdown_of("<pre><i><b>1\n2\n4</b></i>\na</pre>")
