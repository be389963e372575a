// What the one live region says: answers to the viewer at once, changes of others as a summary (fleet/announcer.tsx).
import { signal } from "@preact/signals";

export const spoken = signal("");

export function announce(text: string) {
  // The same text again is said again: a trailing blank makes it another one.
  spoken.value = text === spoken.peek() ? `${text} ` : text;
}
