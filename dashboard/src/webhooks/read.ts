// The reads of the pages of webhooks. Deliveries cause no events, so they are read again every few seconds.
import { signal } from "@preact/signals";

import { api, ask, type Result } from "../api";
import { every, listen } from "../live/life";
import type { Delivery, Event, Problem, Webhook } from "../types";
import { makePages } from "../ui/paging";

const PAGE = 50;
const EVERY_MS = 5_000;
const LIST_MS = 15_000;

export function makeWebhooks() {
  const pages = makePages<Webhook>((cursor) => ask(api.GET("/v1/webhooks", { params: { query: { limit: PAGE, cursor } } })));
  function start() {
    void pages.read();
    const concerns = (event: Event) => event.type === "webhook.disabled";
    const ends = [
      listen({ events: (some) => some.some(concerns) && void pages.read(), reset: () => void pages.read() }),
      every(LIST_MS, () => void pages.read()),
      pages.goOn(),
    ];
    return () => ends.forEach((end) => end());
  }
  return { ...pages, start };
}

export function makeDeliveries(id: string, status: string) {
  const params = { path: { webhook: id }, query: { limit: PAGE, status: (status || undefined) as Delivery["status"] | undefined } };
  const pages = makePages<Delivery>((cursor) =>
    ask(api.GET("/v1/webhooks/{webhook}/deliveries", { params: { ...params, query: { ...params.query, cursor } } })));
  function start() {
    void pages.read();
    return every(EVERY_MS, () => void pages.read());
  }
  return { ...pages, start };
}

export function makeWebhook(id: string) {
  const webhook = signal<Webhook | null>(null);
  const state = signal<"loading" | "there" | "gone" | "failed">("loading");
  const problem = signal<Problem | null>(null);

  async function read() {
    const result: Result<Webhook> = await ask(api.GET("/v1/webhooks/{webhook}", { params: { path: { webhook: id } } }));
    problem.value = result.ok ? null : result.problem;
    if (result.ok) {
      webhook.value = result.value;
      state.value = "there";
    } else if (result.problem?.code === "webhook_not_found") {
      state.value = "gone";
    } else if (state.peek() === "loading") {
      state.value = "failed";
    }
  }

  function start() {
    void read();
    const ends = [listen({ events: () => {}, reset: () => void read() }), every(EVERY_MS, () => state.peek() !== "gone" && void read())];
    return () => ends.forEach((end) => end());
  }

  return { webhook, state, problem, read, start };
}
