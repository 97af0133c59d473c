// Searches the pages without a server: search/search_index.js is the theme's own index as a script (docs/hooks.py).
(function () {
  function count(text, word) {
    return text.split(word).length - 1;
  }

  // A section is found by all words; words of its title count most.
  function score(section, words) {
    const title = section.title.toLowerCase(), text = section.text.toLowerCase();
    const each = words.map((word) => 20 * count(title, word) + count(text, word));
    return each.every((one) => one > 0) ? each.reduce((sum, one) => sum + one) : 0;
  }

  function around(text, word) {
    const at = Math.max(0, text.toLowerCase().indexOf(word) - 80);
    return (at ? "… " : "") + text.slice(at, at + 240) + (text.length > at + 240 ? " …" : "");
  }

  function element(name, text, href) {
    const made = document.createElement(name);
    made.textContent = text;
    if (href) made.href = href;
    return made;
  }

  function show(results, query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const found = sections.map((section) => [score(section, words), section]).filter((one) => one[0] > 0);
    found.sort((one, other) => other[0] - one[0]);
    results.replaceChildren(element("p", words.length ? found.length + " sections found" : "Nothing was asked for"));
    for (const [, section] of found.slice(0, 40)) {
      const entry = document.createElement("article"), heading = document.createElement("h3");
      heading.append(element("a", section.title, section.location));
      heading.append(element("small", " " + section.location.split("#")[0]));
      entry.append(heading, element("p", around(section.text, words[0])));
      results.append(entry);
    }
  }

  document.addEventListener("DOMContentLoaded", function () {
    const results = document.getElementById("mkdocs-search-results");
    if (!results) return;
    const query = new URLSearchParams(location.search).get("q") || "";
    document.getElementById("mkdocs-search-query").value = query;
    const index = document.createElement("script");
    index.src = "search/search_index.js";
    index.onload = () => show(results, query);
    document.head.append(index);
  });
})();
