// Gives a page of the dashboard the same data in each run. The page has a clock that stands still, and the answers of the API get fixed values
// for all that differs from run to run: times, durations, ports, the calls in progress, the number of Gardener's messages.
const NOW = Date.parse("2026-06-10T09:00:00Z");
const MINUTE = 60, DAY = 24 * 60 * MINUTE;
const at = (secondsAgo) => new Date(NOW - secondsAgo * 1000).toISOString().replace(".000Z", "Z");

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/;
const TIME_INSIDE = /\d{4}-\d\d-\d\d(T[\d:.]+Z)?/g;
const LOCAL_ADDRESS = /127\.0\.0\.1:\d+/g;
/** Operations last this long. */
const LASTED = 95;

/** Values of members by name; `age` is the age in seconds of the object that has the member, `past` whether the real time is over. */
const members = new Map(Object.entries({
  observed_at: () => at(4), last_list_at: () => at(4), last_contact_at: () => at(4), fetched_at: () => at(4), token_at: () => at(50 * MINUTE),
  trouble_since: () => at(8 * MINUTE),
  finished_at: (age) => at(age - LASTED),
  expires_at: (age, past) => at(past ? 5 * DAY : -19.5 * DAY),
  next_login_at: () => at(-10 * MINUTE),
  next_attempt_at: () => at(-2 * MINUTE),
  latency_ms: () => 12, running_ms: () => LASTED * 1000, p50_ms: () => 5 * MINUTE * 1000,
  in_flight: () => 0, queue_depth: () => 0,
}));

const isCluster = (value) => typeof value?.name === "string" && typeof value.project === "string";
const ageOfName = (name) => (2 + [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 997, 7) % 170) * MINUTE;

/** A cluster has its age from its name, because it is in lists of different lengths; other items have theirs from their place. */
function ageOf(item, place, around) {
  if (isCluster(item)) return ageOfName(item.name);
  return around === null ? (place + 1) * 4 * MINUTE : Math.max(0, around - place * 20);
}

function fixedText(text) {
  return text.replace(LOCAL_ADDRESS, "127.0.0.1:8080").replace(TIME_INSIDE, (found) => at(-19.5 * DAY).slice(0, found.length > 10 ? undefined : 10));
}

/** `age` of the object that has this value; null outside of lists. */
function fixed(value, name, age) {
  const own = members.get(name);
  if (own && (typeof value === "number" || typeof value === "string")) return own(age ?? 7 * MINUTE, Date.parse(value) < Date.now());
  if (typeof value === "string") return TIME.test(value) ? at(age ?? 7 * MINUTE) : fixedText(value);
  if (Array.isArray(value)) {
    const some = name === "messages" && value.length > 2 ? [value[0], value.at(-1)] : value;
    return some.map((item, place) => fixed(item, "", ageOf(item, place, age)));
  }
  if (typeof value !== "object" || value === null) return value;
  const mine = isCluster(value) ? ageOfName(value.name) : age;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fixed(inner, key, mine)]));
}

/** The stream of events goes to the page as it is: nothing happens while pictures are made. */
async function pass(page, route) {
  if (route.request().headers().accept === "text/event-stream") return route.continue();
  const response = await route.fetch();
  const { "content-length": length, "content-encoding": encoding, ...headers } = response.headers();
  if (!/json/.test(headers["content-type"] ?? "")) return route.fulfill({ response });
  headers.date = new Date(NOW).toUTCString();
  if (headers["observed-at"]) headers["observed-at"] = at(4);
  await route.fulfill({ status: response.status(), headers, body: JSON.stringify(fixed(await response.json(), "", null)) });
}

/** From here on; `page.answering` is the number of requests without an answer yet. */
export async function fixAnswers(page) {
  page.answering = 0;
  await page.clock.setFixedTime(NOW);
  await page.route("**/v1/**", async (route) => {
    page.answering++;
    // A page that is closed or left has no use for the answer.
    await pass(page, route).catch(() => route.abort().catch(() => {}));
    page.answering--;
  });
}
