// The only live region. It sums up changes of others, at most every ten seconds, so that it does not interrupt a screen reader often.
import { useEffect } from "preact/hooks";

import { announce, spoken } from "../live/announce";
import { link } from "../live/link";
import { texts } from "../texts";
import { changes } from "./store";

const EVERY_MS = 10_000;

export function Announcer() {
  useEffect(() => {
    let wasAway = false;
    const timer = setInterval(() => {
      const { changed, failed } = changes.peek();
      const away = link.peek().state === "away";
      const parts = [
        away !== wasAway ? (away ? texts.announce.away : texts.announce.back) : "",
        failed ? texts.announce.failed(failed) : "",
        changed ? texts.announce.changed(changed) : "",
      ].filter(Boolean);
      wasAway = away;
      changes.value = { changed: 0, failed: 0 };
      if (parts.length) announce(parts.join(", "));
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {spoken.value}
    </div>
  );
}
