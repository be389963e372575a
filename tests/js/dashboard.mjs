// Drives real Chromium for tests/api/test_dashboard*.py. Reads one request a line, {"id", "page", "body", "args"}: `body` is the inside of an
// async function of (page, args, context, pictures, hostile), the last two are what pictures.mjs and hostile_answers.mjs export; answers
// {"id", "value"} or {"id", "error"}. Each page collects `faults`: errors of scripts, lines of the console at level error, reports of the
// content security policy, and requests of the page to servers that the test has not named. Ends when standard input does.
// Arguments: path of the browser, empty directory for its profile, path of axe-core or "", arguments of playwright's for the browser that are
// left out.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

import * as hostile from "./hostile_answers.mjs";
import * as pictures from "./pictures.mjs";

const [executablePath, profile, axePath, ...ignoreDefaultArgs] = process.argv.slice(2);
// One process for all pages, and no process that others are forked from: a page then opens in two thirds of the processor time.
const fewProcesses = ["--renderer-process-limit=1", "--no-zygote"];
const context = await chromium.launchPersistentContext(profile, {
  executablePath,
  ignoreDefaultArgs,
  headless: true,
  acceptDownloads: true,
  timezoneId: "Europe/Stockholm",
  locale: "en-GB",
  viewport: { width: 1440, height: 900 },
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-proxy-server", "--host-resolver-rules=MAP shootd.test 127.0.0.1", ...fewProcesses],
});
context.setDefaultTimeout(20_000);
await context.addInitScript(() => {
  document.addEventListener("securitypolicyviolation", (event) =>
    console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`));
});

// These lines are no fault of the page: a server is away, an issuer allows no page to read it, the page is read over plain http.
const expected = new RegExp(["Failed to load resource", "blocked by CORS policy", "Cross-Origin-Opener-Policy header has been ignored", "ERR_CONNECTION",
  "ERR_INCOMPLETE_CHUNKED", "ERR_EMPTY_RESPONSE", "ERR_NETWORK"].join("|"));
const pages = new Map();

/** The hosts of the page, and those of issuers: the arguments `url` and `issuer` of the tests name them. */
const own = new Set(), issuers = new Set();

const hostOf = (url) => (/^https?:/.test(url) ? new URL(url).host : null);

function learn({ url, issuer }) {
  if (url) own.add(hostOf(url)).add(hostOf(url.replace("127.0.0.1", "shootd.test")));
  if (issuer) issuers.add(hostOf(`http://${issuer}`));
}

/** Whether the page itself asks somebody else; pages of an issuer may do that. */
function asksOthers(page, request) {
  const host = hostOf(request.url()), from = hostOf(page.url());
  return host !== null && !own.has(host) && !issuers.has(host) && (from === null || own.has(from));
}

async function pageOf(name) {
  if (!pages.has(name)) {
    const page = await context.newPage();
    page.faults = [];
    page.on("request", (request) => {
      if (asksOthers(page, request)) page.faults.push(`asks ${request.url()}`);
    });
    page.on("pageerror", (error) => page.faults.push(`error: ${error.stack ?? error}`));
    page.on("console", (message) => {
      if (message.type() === "error" && !expected.test(message.text())) page.faults.push(`console: ${message.text()}`);
    });
    /** Violations of axe-core, as short texts. Injected by evaluate: the policy refuses a script element. */
    page.axe = async () => {
      if (await page.evaluate(() => !("axe" in window))) await page.evaluate(readFileSync(axePath, "utf8") + "\n;undefined");
      return page.evaluate(async () => {
        const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
        const { violations } = await axe.run(document, { runOnly: { type: "tag", values: tags }, resultTypes: ["violations"] });
        return violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)} ${node.failureSummary}`));
      });
    };
    pages.set(name, page);
  }
  return pages.get(name);
}

const AsyncFunction = (async () => {}).constructor;

/** Open pages hold connections of the browser to the server, of which there are six. */
async function closeAll() {
  for (const page of pages.values()) await page.close();
  pages.clear();
}

async function answer({ id, page: name, body, args }) {
  try {
    if (name === null) {
      await closeAll();
      return console.log(JSON.stringify({ id, value: null, faults: [] }));
    }
    learn(args);
    const page = await pageOf(name);
    const value = await new AsyncFunction("page", "args", "context", "pictures", "hostile", body)(page, args, context, pictures, hostile);
    console.log(JSON.stringify({ id, value: value ?? null, faults: page.faults }));
  } catch (error) {
    console.log(JSON.stringify({ id, error: String(error?.stack ?? error) }));
  }
}

console.log(JSON.stringify({ id: 0 }));
for await (const line of createInterface({ input: process.stdin })) await answer(JSON.parse(line));
await context.close();
