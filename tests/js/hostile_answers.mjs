// Gives a page of the dashboard hostile texts in every place: the answers of the API get markup, marks that turn the direction of a text,
// control characters and long words in place of each string that the contract does not bind to certain words. The page needs names, ids,
// cursors and times for its requests, so these stay.
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/;
const ID = /^[a-z]{2,4}_[0-9a-hjkmnp-tv-z]{26}$/;

const MARKS = "\u202e\u2066\u202a\u0007";
const MARKUP = `${MARKS}<img src=x onerror="executed=1"></script><script>executed=1</script>`;
const SHORT = MARKUP + "w".repeat(300);
const LONG = MARKUP + "w".repeat(65_536);

/** Members whose keys are texts of users or of Cleura. */
const MAPS = new Set(["labels", "annotations", "by_kubernetes_version"]);
/** Other states, so that the page shows the texts of a problem. */
const STATES = { "state enabled": "disabled", "breaker closed": "open" };
const PROBLEMS = { drift: [{ path: "a", wanted: "a", found: "a" }], freeze: { reason: "a" } };

/**
 * `words`: for each member the words of the contract. `kept`: members that stay. `names`: strings that stay. `nullable`: members that may be
 * null, and get a text. The first text of each member is long.
 */
class Replacer {
  constructor({ words, kept, names, nullable }) {
    this.words = words;
    this.kept = new Set(kept);
    this.names = new Set(names);
    this.nullable = new Set(nullable);
    this.count = 0;
    this.begun = new Set();
  }

  /** Each text is different, because the page may use it as a key. */
  text(name) {
    const isFirst = !this.begun.has(name);
    this.begun.add(name);
    return `${++this.count} ${isFirst ? LONG : SHORT}`;
  }

  string(value, name) {
    const other = STATES[`${name} ${value}`];
    if (other) return other;
    const stays = this.kept.has(name) || this.names.has(value) || this.words[name]?.includes(value) || TIME.test(value) || ID.test(value);
    return stays ? value : this.text(name);
  }

  value(value, name = "") {
    if (PROBLEMS[name] && !value?.length) return this.value(PROBLEMS[name], "");
    if (typeof value === "string") return this.string(value, name);
    if (value === null) return this.nullable.has(name) ? this.text(name) : null;
    if (Array.isArray(value)) return value.map((one) => this.value(one, name));
    if (typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [MAPS.has(name) ? this.text(name) : key, this.value(inner, key)]));
  }
}

/** The stream of events goes to the page as it is. */
async function pass(route, how) {
  if (route.request().headers().accept === "text/event-stream") return route.continue();
  const response = await route.fetch();
  const { "content-length": length, "content-encoding": encoding, ...headers } = response.headers();
  if (!/json/.test(headers["content-type"] ?? "")) return route.fulfill({ response });
  await route.fulfill({ status: response.status(), headers, body: JSON.stringify(new Replacer(how).value(await response.json())) });
}

export async function makeHostile(page, how) {
  // A page that is closed or left has no use for the answer.
  await page.route("**/v1/**", (route) => pass(route, how).catch(() => route.abort().catch(() => {})));
}

/** Runs in the page. Boxes that are clipped or that scroll inside their own place may be wider than the page. */
function look() {
  const turns = /[\u202a-\u202e\u2066-\u2069\u0007]/;
  const isInside = (one) => {
    for (let above = one.parentElement; above; above = above.parentElement) if (getComputedStyle(above).overflowX !== "visible") return true;
    return false;
  };
  const isBeyond = (one) => {
    const box = one.getBoundingClientRect();
    return box.width > 1 && one.checkVisibility() && (box.right > innerWidth + 1 || box.left < -1) && !isInside(one);
  };
  const tell = (one) => `${one.outerHTML.slice(0, 80)} … ${one.className}`;
  const all = [...document.body.querySelectorAll("*")];
  const attributes = ["aria-label", "aria-description", "title", "placeholder", "alt"];
  return {
    executed: "executed" in window, images: document.images.length, scripts: document.scripts.length,
    turned: turns.test(document.documentElement.textContent + document.title),
    labels: all.filter((one) => attributes.some((name) => turns.test(one.getAttribute(name) ?? ""))).map(tell),
    wide: document.documentElement.scrollWidth - innerWidth,
    beyond: all.filter(isBeyond).map(tell).slice(0, 5),
  };
}

/** What the page does with the texts, and how many of them it shows in its main part. */
export async function seen(page) {
  const shown = await page.locator("main").evaluate((main) => main.textContent.split("<img src=x").length - 1);
  return { found: await page.evaluate(look), shown };
}
