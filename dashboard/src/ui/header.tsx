import { useRef, useState } from "preact/hooks";

import { paused } from "../live/life";
import { lastFleet, route, type Route } from "../router";
import { logOut, mayAs, roleOf, session } from "../session";
import { texts } from "../texts";
import type { Whoami } from "../types";
import { brief, wordOf } from "./foreign";
import { setTheme, theme, type Theme } from "./theme";
import { exactTimes } from "./time";

const themes: Theme[] = ["system", "light", "dark"];

function Switches() {
  return (
    <div class="switches">
      <label class="inline">
        <span>{texts.theme.label}</span>
        <select value={theme.value} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
          {themes.map((one) => (
            <option key={one} value={one}>
              {texts.theme[one]}
            </option>
          ))}
        </select>
      </label>
      <button type="button" aria-pressed={paused.value} onClick={() => (paused.value = !paused.value)}>
        {texts.pause}
      </button>
      <button type="button" aria-pressed={exactTimes.value} onClick={() => (exactTimes.value = !exactTimes.value)}>
        {texts.time.exactSwitch}
      </button>
    </div>
  );
}

const others: { page: Route["page"] & keyof typeof texts.nav; within?: Route["page"] }[] = [
  { page: "operations" }, { page: "events" }, { page: "webhooks", within: "webhook" }, { page: "accounts" }, { page: "audit" },
];

/** `page` for the current page; `true` for the parent of the current page (a webhook). */
function currentOf(page: Route["page"], within?: Route["page"]) {
  const at = route.value.page;
  if (at === page) return { "aria-current": "page" as const };
  return at === within ? { "aria-current": "true" as const } : {};
}

/** Pages that the role may not see are left out. */
function Navigation() {
  return (
    <nav class="pages" aria-label={texts.nav.label}>
      <a class="brand" href={lastFleet.value} {...currentOf("fleet", "cluster")}>
        <svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
          <path class="brand-outer" d="M8 1l6 3.5v7L8 15l-6-3.5v-7z" />
          <path class="brand-inner" d="M8 4.5l3 1.75v3.5L8 11.5l-3-1.75v-3.5z" />
        </svg>
        {texts.nav.fleet}
      </a>
      {others.filter(({ page }) => mayAs(roleOf(page))).map(({ page, within }) => (
        <a key={page} href={`#/${page}`} {...currentOf(page, within)}>
          {texts.nav[page]}
        </a>
      ))}
    </nav>
  );
}

function User({ who }: { who: Whoami }) {
  return (
    <div class="who">
      <span class="who-name">{brief(who.name)}</span>
      <span class="quiet">{wordOf(texts.role, who.role)}</span>
      <button type="button" onClick={logOut}>
        {texts.nav.logOut}
      </button>
    </div>
  );
}

/** On narrow screens a button shows and hides the switches and the user; wide screens show them always (style.css). */
function Settings({ who }: { who: Whoami }) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <div class={isOpen ? "settings is-open" : "settings"}
      onKeyDown={(event) => event.key === "Escape" && isOpen && (setOpen(false), button.current?.focus())}
      onFocusOut={(event) => {
        const next = event.relatedTarget as Node | null;
        if (next && !event.currentTarget.contains(next)) setOpen(false);
      }}>
      <button type="button" class="settings-button" ref={button} aria-expanded={isOpen} aria-controls="settings" onClick={() => setOpen(!isOpen)}>
        {texts.nav.settings}
      </button>
      <div class="settings-body" id="settings">
        <Switches />
        <User who={who} />
      </div>
    </div>
  );
}

export function Header() {
  const current = session.value;
  if (current.kind !== "in") return null;
  return (
    <header class="top">
      <Navigation />
      <Settings who={current.who} />
    </header>
  );
}
