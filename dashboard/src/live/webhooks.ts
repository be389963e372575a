// The webhooks that fail, for the strip. Deliveries cause no events, so they are read again and again.
import { signal } from "@preact/signals";

import { api, ask, type Result } from "../api";
import { mayAs, onEnd } from "../session";
import type { Webhook } from "../types";
import { every, listen } from "./life";

const READ_MS = 15_000;
/** The strip names only some of them. */
const MOST = 100;

export const failingWebhooks = signal<Webhook[]>([]);

async function read() {
  if (!mayAs("operator")) return;
  const result: Result<{ items: Webhook[] }> = await ask(api.GET("/v1/webhooks", { params: { query: { limit: MOST, state: ["failing"] } } }));
  if (result.ok) failingWebhooks.value = result.value.items;
}

export function startWebhooks() {
  listen({ events: (events) => events.some((event) => event.type === "webhook.disabled") && void read(), reset: () => void read() });
  every(READ_MS, () => void read());
  onEnd(() => (failingWebhooks.value = []));
}
