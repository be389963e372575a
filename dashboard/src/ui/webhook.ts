// What the list of webhooks and the strip say about a webhook.
import { now } from "../live/life";
import { texts } from "../texts";
import type { Webhook } from "../types";
import { brief } from "./foreign";
import { span } from "./time";

/** The name for people; the address where there is none. */
export const webhookName = ({ description, url }: Webhook) => brief(description || url);

/** How long a webhook has failed, what waits, and the last answer; empty when it does not fail. */
export function failureOf({ status }: Webhook): string {
  const { failing_since: since, pending_deliveries: waiting, last_response: last } = status;
  if (status.state !== "failing" || !since) return "";
  return texts.webhooks.failing(span(now.value - Date.parse(since)), waiting, last?.status == null ? brief(last?.error ?? texts.none) : String(last.status));
}
