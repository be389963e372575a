// The current place is in the fragment of the URL: it is never sent to a server, and a reload keeps it.
import { computed, signal } from "@preact/signals";

export type Route =
  | { page: "fleet"; query: URLSearchParams }
  | { page: "cluster"; project: string; name: string }
  | { page: Plain }
  | { page: "webhook"; id: string }
  | { page: "unknown" };

/** Pages whose address equals their name. */
const plain = ["operations", "events", "webhooks", "accounts", "audit"] as const;
type Plain = (typeof plain)[number];

const fragment = signal("");

/** A new page gets a row here. */
const patterns: [RegExp, (match: RegExpExecArray, query: URLSearchParams) => Route][] = [
  ...plain.map((page): [RegExp, () => Route] => [new RegExp(`^/${page}$`), () => ({ page })]),
  [/^\/?$/, (_, query) => ({ page: "fleet", query })],
  [/^\/clusters\/([^/]+)\/([^/]+)$/, (m) => ({ page: "cluster", project: decode(m[1]), name: decode(m[2]) })],
  [/^\/webhooks\/([^/]+)$/, (m) => ({ page: "webhook", id: decode(m[1]) })],
];

function decode(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? "");
  } catch {
    return text ?? "";
  }
}

function parse(text: string): Route {
  const [path = "", query = ""] = text.split("?", 2);
  for (const [pattern, route] of patterns) {
    const match = pattern.exec(path);
    if (match) return route(match, new URLSearchParams(query));
  }
  return { page: "unknown" };
}

export const route = computed(() => parse(fragment.value));

export const fleetLink = (query?: URLSearchParams) => (query && String(query) ? `#/?${query}` : "#/");
export const clusterLink = (project: string, name: string) => `#/clusters/${encodeURIComponent(project)}/${encodeURIComponent(name)}`;

/** The link to the events or operations of one cluster. */
export const historyLink = (page: "events" | "operations", project: string, cluster: string) => `#/${page}?${new URLSearchParams({ project, cluster })}`;

export const webhookLink = (id: string) => `#/webhooks/${encodeURIComponent(id)}`;

/** The link back to the clusters, with the filters that were used last. */
export const lastFleet = signal("#/");

/** Changes the place without a new entry in the history, for filters. */
export function replaceWith(link: string) {
  history.replaceState(null, "", link);
  read();
}

/** The filters in the address of the current page. */
export const placeQuery = computed(() => new URLSearchParams(fragment.value.split("?", 2)[1] ?? ""));

/** Changes some filters; an empty value removes its filter. */
export function changeQuery(part: Record<string, string>) {
  const query = new URLSearchParams(placeQuery.peek());
  for (const [name, value] of Object.entries(part)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const path = fragment.peek().split("?", 1)[0] ?? "";
  replaceWith(String(query) ? `#${path}?${query}` : `#${path}`);
}

function read() {
  fragment.value = location.hash.replace(/^#/, "");
  if (route.value.page === "fleet") lastFleet.value = location.hash || "#/";
}

export function startRouter() {
  addEventListener("hashchange", read);
  read();
}
