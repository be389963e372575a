// The webhooks, with the state of their deliveries.
import { useEffect, useMemo } from "preact/hooks";

import { webhookLink } from "../router";
import { texts } from "../texts";
import type { Webhook } from "../types";
import { Foreign, visible, wordOf } from "../ui/foreign";
import { PageHead } from "../ui/page_head";
import { PagesState, Pager } from "../ui/paging";
import { SeverityIcon } from "../ui/phase";
import { When } from "../ui/time";
import { failureOf, webhookName } from "../ui/webhook";
import { makeWebhooks } from "./read";

const listOf = (words: string[], all: string) => (words.length && !words.includes("*") ? words.join(", ") : all);

export function WebhookState({ webhook }: { webhook: Webhook }) {
  const { state } = webhook.status;
  return <span class={`tag webhook-${state}`}>{wordOf(texts.webhooks.state, state)}</span>;
}

/** Problems on which a user has to act. */
export function WebhookTrouble({ webhook }: { webhook: Webhook }) {
  const said = [
    failureOf(webhook),
    webhook.status.state === "disabled" ? texts.webhooks.disabled(webhook.status.disabled_reason ?? texts.none) : "",
    webhook.secrets === "unreadable" ? texts.webhooks.unreadable : "",
    webhook.token_revoked_at ? texts.webhooks.tokenRevoked : "",
  ].filter(Boolean);
  return (
    <>
      {said.map((text, i) => (
        <p key={i} class="notice warn">
          <SeverityIcon severity="warning" />
          <Foreign text={text} />
        </p>
      ))}
    </>
  );
}

export function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const rows: [string, string][] = [
    [texts.webhooks.events, listOf(webhook.event_types, texts.webhooks.allEvents)],
    [texts.webhooks.projects, listOf(webhook.projects, texts.filter.allProjects)],
    [texts.webhooks.madeBy, webhook.created_by ?? texts.none],
  ];
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd><Foreign text={value} /></dd>
        </div>
      ))}
      <div>
        <dt>{texts.webhooks.madeAt}</dt>
        <dd>
          <When at={webhook.created_at} focusable />
        </dd>
      </div>
    </dl>
  );
}

function Card({ webhook }: { webhook: Webhook }) {
  return (
    <li class="panel card">
      <p class="card-title">
        <a class="foreign" href={webhookLink(webhook.id)}>{webhookName(webhook)}</a> <WebhookState webhook={webhook} />
      </p>
      {webhook.description && <p class="foreign mono">{visible(webhook.url)}</p>}
      <WebhookTrouble webhook={webhook} />
      <WebhookFacts webhook={webhook} />
    </li>
  );
}

export function WebhooksPage() {
  const data = useMemo(makeWebhooks, []);
  useEffect(() => data.start(), [data]);
  const items = data.items.value;
  return (
    <>
      <PageHead heading={texts.webhooks.heading} />
      <PagesState pages={data} />
      {data.state.value === "there" && !items.length && <p class="panel empty">{texts.webhooks.none}</p>}
      {items.length > 0 && (
        <ul class="plain cards" aria-label={texts.webhooks.heading}>
          {items.map((webhook) => (
            <Card key={webhook.id} webhook={webhook} />
          ))}
        </ul>
      )}
      <Pager pages={data} />
    </>
  );
}
