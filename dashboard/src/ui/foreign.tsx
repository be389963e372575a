// A text from Cleura or a user: shown as text, in its own direction, and shortened.
import { useState } from "preact/hooks";

import { texts } from "../texts";

const MOST = 600;

// Control characters, and marks that change the direction of a line; line breaks and tabs stay.
const unseen = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The text, with invisible characters as escapes. */
export const visible = (text: string) => text.replace(unseen, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

export function Foreign({ text, mono = false }: { text: string | null | undefined; mono?: boolean }) {
  const [all, setAll] = useState(false);
  if (text == null) return null;
  const isLong = text.length > MOST;
  const shown = visible(isLong && !all ? `${text.slice(0, MOST)}…` : text);
  return (
    <span class={mono ? "foreign mono" : "foreign"}>
      {shown}
      {isLong && (
        <button type="button" class="more" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? texts.less : texts.more(text.length)}
        </button>
      )}
    </span>
  );
}
