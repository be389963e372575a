// The place in the page is in the fragment of the URL: it is never sent to a server, and a reload keeps it.
import { computed, signal } from "@preact/signals";

export type Route =
  | { page: "fleet"; query: URLSearchParams }
  | { page: "cluster"; project: string; name: string }
  | { page: "unknown" };

const fragment = signal("");

/** Pages that come later get a row here. */
const patterns: [RegExp, (match: RegExpExecArray, query: URLSearchParams) => Route][] = [
  [/^\/?$/, (_, query) => ({ page: "fleet", query })],
  [/^\/clusters\/([^/]+)\/([^/]+)$/, (m) => ({ page: "cluster", project: decode(m[1]), name: decode(m[2]) })],
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

/** The link back to the fleet as it was last seen. */
export const lastFleet = signal("#/");

/** Changes the place without a new entry in the history: filters while they are typed. */
export function replaceWith(link: string) {
  history.replaceState(null, "", link);
  read();
}

function read() {
  fragment.value = location.hash.replace(/^#/, "");
  if (route.value.page === "fleet") lastFleet.value = location.hash || "#/";
}

export function startRouter() {
  addEventListener("hashchange", read);
  read();
}
