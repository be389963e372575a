// The texts of the live region: answers to the user at once, changes of others as a summary (fleet/announcer.tsx).
import { signal } from "@preact/signals";

export const spoken = signal("");

export function announce(text: string) {
  // A screen reader does not repeat an unchanged text, so a trailing blank is added.
  spoken.value = text === spoken.peek() ? `${text} ` : text;
}
