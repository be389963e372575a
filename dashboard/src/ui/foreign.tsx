// A text that Cleura or a user wrote: shown as text, in its own direction, and not longer than a reader wants it.
import { useState } from "preact/hooks";

import { texts } from "../texts";

const MOST = 600;

export function Foreign({ text, mono = false }: { text: string | null | undefined; mono?: boolean }) {
  const [all, setAll] = useState(false);
  if (text == null) return null;
  const isLong = text.length > MOST;
  return (
    <span class={mono ? "foreign mono" : "foreign"}>
      {isLong && !all ? `${text.slice(0, MOST)}…` : text}
      {isLong && (
        <button type="button" class="more" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? texts.less : texts.more(text.length)}
        </button>
      )}
    </span>
  );
}
