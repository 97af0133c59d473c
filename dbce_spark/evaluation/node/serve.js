// Extracts the main text of page after page: a line of JSON in, a line of JSON out, the first line out when it is ready.
//
//     node serve.js FOLDER_WITH_NODE_MODULES readability|defuddle|defuddle-markdown
//     {"html": "..."}  ->  {"text": "...", "error": "", "seconds": 1.25}
//
// `seconds` is the CPU that this process has taken so far. No script of a page runs, and nothing is fetched.

import { Console } from "node:console";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, method] = process.argv.slice(2);
const load = createRequire(join(folder, "package.json"));
const { JSDOM, VirtualConsole } = load("jsdom");

globalThis.console = new Console(process.stderr); // standard output is for answers

// Each loads its package, and gives a function from a JSDOM to the node that holds the main content, its Markdown, or null.
const METHODS = {
  readability() {
    const { Readability } = load("@mozilla/readability");
    return (dom) => new Readability(dom.window.document, { serializer: (element) => element }).parse()?.content;
  },

  async defuddle() {
    const extract = await loadDefuddle();
    return async (dom) => JSDOM.fragment(await extract(dom, {}));
  },

  // Its Markdown, as it is.
  async "defuddle-markdown"() {
    const extract = await loadDefuddle();
    return (dom) => extract(dom, { markdown: true });
  },
};

async function loadDefuddle() {
  // By its path: to `require` the package hides it, and `import` knows no folder but this file's.
  const path = join(folder, "node_modules", "defuddle", "dist", "node.js");
  const { Defuddle } = await import(pathToFileURL(path));
  // useAsync would ask other sites for what the page lacks.
  return async (dom, options) => (await Defuddle(dom, undefined, { useAsync: false, ...options })).content;
}

// The text nodes, a line each, as the other extractors that give HTML are read.
function textOf(node) {
  if (node.nodeType === 3) return [node.data];
  return Array.from(node.childNodes).flatMap(textOf);
}

async function answer(content, line) {
  const dom = new JSDOM(JSON.parse(line).html, { virtualConsole: new VirtualConsole() });
  try {
    const node = await content(dom);
    return { text: typeof node === "string" ? node : node ? textOf(node).join("\n") : "", error: "" };
  } catch (error) {
    return { text: "", error: String(error) };
  } finally {
    dom.window.close();
  }
}

function write(answer) {
  const { user, system } = process.cpuUsage();
  process.stdout.write(JSON.stringify({ ...answer, seconds: (user + system) / 1e6 }) + "\n");
}

const content = await METHODS[method]();
write({});
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  write(await answer(content, line));
}
