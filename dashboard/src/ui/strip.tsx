// The strip that stays at the top of the window: the state of the connection, the age of the data, and trouble.
import { now } from "../live/life";
import { link } from "../live/link";
import { oldestList, unread } from "../live/upstream";
import { texts } from "../texts";
import { Banners } from "./banners";
import { span } from "./time";

/** The state; while the server is away, its last answer is an exact time. */
function State() {
  const { state, since } = link.value;
  const exact = state === "away" ? { "data-exact": since, tabIndex: 0 } : {};
  return <span {...exact}>{texts.link[state](span(now.value - since))}</span>;
}

/** A project that was never read is mentioned, because its clusters are absent. */
function Age() {
  const read = oldestList.value, missing = unread.value;
  if (read === null) return missing ? <span class="age unread">{texts.notRead}</span> : null;
  return (
    <span class="age">
      <span class="quiet" data-exact={read} tabIndex={0}>
        {texts.age(span(now.value - read))}
      </span>
      {missing > 0 && <span class="unread">, {texts.unread(missing)}</span>}
    </span>
  );
}

export function Strip() {
  const { state } = link.value;
  return (
    <div class="strip">
      <div class={`connection ${state}`}>
        <svg class="dot" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
          {state === "live" ? <circle cx="5" cy="5" r="4" /> : <path d="M1 1l8 8M9 1L1 9" />}
        </svg>
        <State />
        <Age />
      </div>
      <Banners />
    </div>
  );
}
