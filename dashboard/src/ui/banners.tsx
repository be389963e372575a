// Problems that concern more than one cluster: the server does not answer, projects whose account has a problem at Cleura, webhooks that
// fail, freezes. The strip has one line for them, so that nothing below it moves when they come and go; the line opens a list of all of them.
import { useState } from "preact/hooks";

import { now } from "../live/life";
import { link } from "../live/link";
import { frozen, troubled } from "../live/upstream";
import { failingWebhooks } from "../live/webhooks";
import { texts } from "../texts";
import type { Project, Webhook } from "../types";
import { Foreign, visible } from "./foreign";
import { Menu } from "./menu";
import { SeverityIcon } from "./phase";
import { clock, When } from "./time";
import { failureOf, webhookName } from "./webhook";

type Severity = "critical" | "warning" | "info";
/** `contact`: the last answer of Cleura. `since`: the last answer of the server, in ms. */
type Trouble = { key: string; severity: Severity; head?: string; text: string; contact?: string | null; since?: number };

const kinds: Record<Severity, string> = { critical: "bad", warning: "warn", info: "" };

/** The list shows so many projects of each kind. */
const MOST = 20;
/** The line cannot show more characters. */
const MOST_IN_LINE = 400;

function reasonOf(project: Project): string {
  const { login, login_message, last_error, breaker } = project.upstream;
  if (project.location_change) return texts.upstream.setAside(project.location_change.clusters);
  if (login !== "ok" && login !== "unknown") return login_message ?? texts.upstream.login(login);
  return last_error ?? texts.upstream.breaker(breaker);
}

function ofLink(): Trouble[] {
  const { state, since, why } = link.value;
  if (state === "away") return [{ key: "away", severity: "critical", text: texts.away(clock(now.value - since)), since }];
  if (state === "blocked") return [{ key: "blocked", severity: "warning", text: texts.blocked(why ?? texts.none) }];
  return [];
}

const ofProject = (project: Project): Trouble => ({
  key: `trouble ${project.name}`, severity: "warning", head: texts.upstream.project(visible(project.name)), text: reasonOf(project),
  contact: project.upstream.last_contact_at,
});

const ofWebhook = (webhook: Webhook): Trouble => ({
  key: `webhook ${webhook.id}`, severity: "warning", head: texts.upstream.webhook(webhookName(webhook)), text: failureOf(webhook),
});

const ofFreeze = (project: Project): Trouble => ({
  key: `frozen ${project.name}`, severity: "info", head: texts.upstream.frozen(visible(project.name)), text: project.freeze?.reason ?? "",
});

function Notice({ trouble }: { trouble: Trouble }) {
  const { severity, head, text, contact, since } = trouble;
  const exact = since === undefined ? {} : { "data-exact": since, tabIndex: 0 };
  return (
    <p class={`notice ${kinds[severity]}`}>
      <SeverityIcon severity={severity} />
      <span {...exact}>
        {head && <b>{head}</b>} <Foreign text={text} />{" "}
        {contact && (
          <>
            {texts.upstream.lastContact} <When at={contact} focusable />
          </>
        )}
      </span>
    </p>
  );
}

function List() {
  const bad = troubled.value, failing = failingWebhooks.value, held = frozen.value;
  const notices = [...ofLink(), ...bad.slice(0, MOST).map(ofProject)];
  return (
    <>
      {notices.map((one) => <Notice key={one.key} trouble={one} />)}
      {bad.length > MOST && <p class="notice warn">{texts.upstream.more(bad.length - MOST)}</p>}
      {failing.slice(0, MOST).map(ofWebhook).map((one) => <Notice key={one.key} trouble={one} />)}
      {failing.length > MOST && <p class="notice warn">{texts.upstream.moreWebhooks}</p>}
      {held.slice(0, MOST).map(ofFreeze).map((one) => <Notice key={one.key} trouble={one} />)}
      {held.length > MOST && <p class="notice">{texts.upstream.moreFrozen(held.length - MOST)}</p>}
    </>
  );
}

/** The worst trouble in one line, and the number of the others. The list is rendered when it is opened. */
function Line({ first, others }: { first: Trouble; others: number }) {
  const [isOpen, setOpen] = useState(false);
  const label = (
    <>
      <SeverityIcon severity={first.severity} />
      <span class="trouble-text">
        {first.head && <b>{first.head}</b>} {visible(first.text.slice(0, MOST_IN_LINE))}
      </span>
      {others > 0 && <span class="trouble-others">{texts.upstream.others(others)}</span>}
    </>
  );
  return (
    <Menu label={label} kind={`trouble ${kinds[first.severity]}`} onToggle={setOpen}>
      {isOpen && <List />}
    </Menu>
  );
}

/** The line stays while the focus is in it, because the focus would be lost with it. */
export function Banners() {
  const [hasFocus, setFocus] = useState(false);
  const count = troubled.value.length + failingWebhooks.value.length + frozen.value.length;
  const [ofThisLink] = ofLink();
  const first = ofThisLink ?? troubled.value.slice(0, 1).map(ofProject)[0] ?? failingWebhooks.value.slice(0, 1).map(ofWebhook)[0] ??
    frozen.value.slice(0, 1).map(ofFreeze)[0];
  if (!first && !hasFocus) return null;
  return (
    <aside class="banners" aria-label={texts.upstream.label} onFocusIn={() => setFocus(true)}
      onFocusOut={(event) => !event.currentTarget.contains(event.relatedTarget as Node | null) && setFocus(false)}>
      <Line first={first ?? { key: "over", severity: "info", text: texts.upstream.over }} others={first ? count - (ofThisLink ? 0 : 1) : 0} />
    </aside>
  );
}
