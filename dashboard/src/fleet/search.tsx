// The search field. The rows follow a key in a task of their own, so that no task is long with many clusters. The URL follows when the user
// stops typing: a browser does much for each change of the address, and some allow only a few changes in a second.
import { useEffect, useRef } from "preact/hooks";

import { texts } from "../texts";
import { change, forgetTyped, query, seek, typed } from "./query";

const STOPS_MS = 400;

export function Search() {
  const { current: at } = useRef({ timer: 0, place: "" });

  /** Passes the text on. If the user has followed a link since it was typed, it belongs to no address and is forgotten. */
  const pass = (on: () => void) => {
    clearTimeout(at.timer);
    if (location.hash === at.place) on();
    else forgetTyped();
  };
  /** Takes the text into the address. */
  const keep = () => pass(() => typed.peek() !== null && change({}));
  const type = (q: string) => {
    clearTimeout(at.timer);
    at.place = location.hash;
    typed.value = q;
    at.timer = window.setTimeout(pass, 0, () => {
      seek();
      at.timer = window.setTimeout(keep, STOPS_MS);
    });
  };
  useEffect(() => {
    const leave = () => location.hash !== at.place && keep();
    addEventListener("hashchange", leave);
    return () => (removeEventListener("hashchange", leave), keep());
  }, []);
  return (
    <label class="grow">
      <span>{texts.filter.search}</span>
      <input type="search" value={typed.value ?? query.value.q} spellcheck={false} autocapitalize="off" placeholder={texts.filter.example}
        onInput={(event) => type(event.currentTarget.value)} onChange={keep} onBlur={keep} />
    </label>
  );
}
