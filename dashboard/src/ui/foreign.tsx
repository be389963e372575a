// Texts from Cleura or a user. Each of them is shown as text, in its own direction, and shortened: by <Foreign> where there is room for
// several lines, by `brief` in one line, by `wordOf` or `wordIn` where the page has a text for the words of the server, else by `visible`.
import { useState } from "preact/hooks";

import { texts } from "../texts";

const MOST = 600;
const LINE = 60;

// Control characters, and marks that change the direction of a line; line breaks and tabs stay.
const unseen = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The text, with invisible characters as escapes. */
export const visible = (text: string) => text.replace(unseen, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** At most `most` characters, and not one half of a pair. */
const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…` : text);

/** For places that have one line, and for attributes. */
export const brief = (text: string) => visible(cut(text, LINE));

/** The text for a word of the server, or the word itself: a newer server may have words that this page does not know. */
export const wordOf = (words: Record<string, string>, word: string) => (Object.hasOwn(words, word) ? words[word] : null) ?? brief(word);

/** The same for a column of a table, which cuts off a word that this page does not know (style.css). */
export const wordIn = (words: Record<string, string>, word: string) => (Object.hasOwn(words, word) ? words[word] : <span class="foreign">{brief(word)}</span>);

export function Foreign({ text, mono = false }: { text: string | null | undefined; mono?: boolean }) {
  const [all, setAll] = useState(false);
  if (text == null) return null;
  const isLong = text.length > MOST;
  const shown = visible(all ? text : cut(text, MOST));
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
