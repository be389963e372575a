// Whether the server has another version of this page. A page that is open for weeks would otherwise run old code after an upgrade.
import { effect, signal, untracked } from "@preact/signals";

import { base } from "../api";
import { every } from "./life";
import { link } from "./link";

const EVERY_MS = 10 * 60_000;

export const outdated = signal(false);

/** The files of a page, whose names change with their content (build.mjs). */
export const filesOf = (text: string) => (text.match(/dashboard\/[a-z]+-[0-9a-f]{12}\.(?:js|css)/g) ?? []).sort().join(" ");

/** The files that this page runs with. */
const ownFiles = () => filesOf([...document.querySelectorAll("script, link")].map((one) => `${one.getAttribute("src")} ${one.getAttribute("href")}`).join(" "));

/** The entity tag of the page also changes with its policy, which names the issuers of the configuration. */
let firstTag: string | null = null;

/** An answer that has no page of shootd, such as that of a proxy, says nothing about the version. */
export function isOther(own: string, served: string, tag: string | null): boolean {
  const files = filesOf(served);
  if (!files) return false;
  firstTag ??= tag;
  return files !== own || (tag !== null && tag !== firstTag);
}

async function check() {
  try {
    const response = await fetch(`${base}/`, { cache: "no-store" });
    if (response.ok) outdated.value = isOther(ownFiles(), await response.text(), response.headers.get("ETag"));
  } catch {
    // The next check follows when the server answers again.
  }
}

/** A restart of the server can be so short that the page does not notice it, so the page also asks from time to time. */
export function startVersion() {
  effect(() => {
    if (link.value.state === "live") untracked(() => void check());
  });
  every(EVERY_MS, () => link.peek().state === "live" && void check());
}
