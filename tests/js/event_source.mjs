// A page in Chromium that follows the events with EventSource. Tells on standard output, one JSON document a line, what the page
// has seen whenever that has changed; ends when standard input does.
// Arguments: URL of the page, path of the browser, empty directory for its profile.
import { chromium } from "playwright-core";
import { createInterface } from "node:readline";

const [page_url, executablePath, profile] = process.argv.slice(2);
const browser = await chromium.launchPersistentContext(profile, {
  executablePath,
  headless: true,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const page = await browser.newPage();
page.on("pageerror", (error) => console.error(String(error)));
await page.goto(page_url);

let told = "";
const timer = setInterval(async () => {
  const now = await page.evaluate("JSON.stringify(seen)").catch(() => told);
  if (now !== told) console.log((told = now));
}, 50);
for await (const _ of createInterface({ input: process.stdin }));
clearInterval(timer);
await browser.close();
