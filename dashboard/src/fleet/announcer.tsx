// The only live region. It sums up changes of others, at most every ten seconds, so that it does not interrupt a screen reader often.
import { useEffect } from "preact/hooks";

import { announce, spoken, unanswered } from "../live/announce";
import { link } from "../live/link";
import { troubled } from "../live/upstream";
import { texts } from "../texts";
import { visible } from "../ui/foreign";
import { changes } from "./store";

const EVERY_MS = 10_000;

/** The states that a summary reports. */
type Said = { away: boolean; troubled: number };

const present = (): Said => ({ away: link.peek().state === "away" || unanswered.peek() > 0, troubled: troubled.peek().length });

/** The changes since the last summary. A state that is as before is not repeated. */
function partsOf(was: Said, is: Said): string[] {
  const { changed, failed } = changes.peek();
  return [
    is.away === was.away ? "" : is.away ? texts.announce.away : texts.announce.back,
    is.troubled === was.troubled ? "" : is.troubled ? texts.announce.troubled(is.troubled) : texts.announce.calm,
    failed ? texts.announce.failed(failed) : "",
    changed ? texts.announce.changed(changed) : "",
  ].filter(Boolean);
}

export function Announcer() {
  useEffect(() => {
    let was: Said = { away: false, troubled: 0 };
    const timer = setInterval(() => {
      const is = present(), parts = partsOf(was, is);
      was = is;
      changes.value = { changed: 0, failed: 0 };
      if (parts.length) announce(parts.join(", "));
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {visible(spoken.value)}
    </div>
  );
}
