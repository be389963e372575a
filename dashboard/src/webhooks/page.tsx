// One webhook: its state, and every delivery with every attempt.
import { useEffect, useMemo } from "preact/hooks";

import { placeQuery } from "../router";
import { texts } from "../texts";
import type { Delivery } from "../types";
import { Foreign, visible } from "../ui/foreign";
import { Pager, PagesState } from "../ui/paging";
import { ProblemNotice } from "../ui/problem";
import { optionsOf, QueryFilters, type Field } from "../ui/query_filters";
import { useStill } from "../ui/still";
import { Table } from "../ui/table";
import { When } from "../ui/time";
import { WebhookFacts, WebhookState, WebhookTrouble } from "./list";
import { makeDeliveries, makeWebhook } from "./read";

const fields: Field[] = [{ name: "status", label: texts.deliveries.status, options: optionsOf(texts.deliveries.state) }];

const answerOf = (status: number | null | undefined) => (status == null ? texts.deliveries.noAnswer : String(status));

function Attempts({ delivery }: { delivery: Delivery }) {
  return (
    <Table kind="attempts" label={texts.deliveries.attemptsOf(delivery.event_id)} columns={texts.deliveries.column}>
      {delivery.attempts.map((attempt, i) => (
        <tr key={i}>
          <th scope="row" class="mono">{delivery.attempt - delivery.attempts.length + i + 1}</th>
          <td>
            <When at={attempt.at} />
          </td>
          <td class="mono">{answerOf(attempt.response_status)}</td>
          <td class="mono">{texts.ms(attempt.latency_ms)}</td>
          <td>{attempt.error ? <Foreign mono text={attempt.error} /> : texts.deliveries.state.delivered}</td>
        </tr>
      ))}
    </Table>
  );
}

function Entry({ delivery }: { delivery: Delivery }) {
  const { status } = delivery;
  return (
    <li class="entry">
      <When at={delivery.created_at} />
      <p class="entry-name">
        <b>{texts.event[delivery.event_type as keyof typeof texts.event] ?? visible(delivery.event_type)}</b>
      </p>
      <details>
        <summary>
          <span class={`tag status-${status === "delivered" ? "succeeded" : status}`}>{texts.deliveries.state[status] ?? status}</span>{" "}
          {delivery.attempt > 0 && (
            <span class="mono">{texts.deliveries.last(answerOf(delivery.response_status), delivery.latency_ms == null ? texts.none : texts.ms(delivery.latency_ms))}</span>
          )}{" "}
          <span class="quiet">{texts.deliveries.attempts(delivery.attempt)}</span>{" "}
          {delivery.next_attempt_at && (
            <span class="quiet">
              {texts.deliveries.next} <When at={delivery.next_attempt_at} />
            </span>
          )}
        </summary>
        <div class="entry-body">
          {delivery.attempts.length > 0 && <Attempts delivery={delivery} />}
          {delivery.response_snippet && (
            <p>
              {texts.deliveries.answer} <Foreign mono text={delivery.response_snippet} />
            </p>
          )}
          <p class="quiet mono foreign">{visible(delivery.event_id)}</p>
        </div>
      </details>
    </li>
  );
}

function Log({ id }: { id: string }) {
  const asked = placeQuery.value.get("status") ?? "";
  const deliveries = useMemo(() => makeDeliveries(id, asked), [id, asked]);
  useEffect(() => deliveries.start(), [deliveries]);
  const still = useStill(deliveries.items.value, (one) => one.id, `${asked} ${deliveries.number.value}`);
  const isEmpty = deliveries.state.value === "there" && !still.items.length;
  return (
    <section class="log" aria-labelledby="deliveries-heading">
      <h2 id="deliveries-heading">{texts.deliveries.heading}</h2>
      <QueryFilters fields={fields} />
      <PagesState pages={deliveries} />
      {isEmpty && <p class="panel empty">{asked ? texts.deliveries.noneMatch : texts.deliveries.none}</p>}
      {still.items.length > 0 && (
        <div class="list-area" {...still.area}>
          <ul class="panel entries" aria-label={texts.deliveries.heading}>
            {still.items.map((delivery) => (
              <Entry key={delivery.id} delivery={delivery} />
            ))}
          </ul>
          {still.differs && (
            <button type="button" class="primary order-note" onClick={still.apply}>
              {texts.filter.orderChanged}
            </button>
          )}
        </div>
      )}
      <Pager pages={deliveries} />
    </section>
  );
}

export function WebhookPage({ id }: { id: string }) {
  const data = useMemo(() => makeWebhook(id), [id]);
  useEffect(() => data.start(), [data]);
  useEffect(() => {
    document.title = texts.pageTitle(texts.webhooks.one);
  }, []);
  const state = data.state.value, webhook = data.webhook.value;
  return (
    <>
      <div class="heading cluster-heading">
        <p class="crumbs">
          <a href="#/webhooks">{texts.webhooks.heading}</a> <span aria-hidden="true">/</span> <bdi>{visible(id)}</bdi>
        </p>
        <h1 tabIndex={-1}>{webhook ? visible(webhook.url) : texts.webhooks.one}</h1>
      </div>
      {state === "loading" && <p class="panel empty">{texts.pages.loading}</p>}
      {state === "gone" && <p class="panel empty">{texts.webhooks.gone}</p>}
      {(state === "failed" || (state === "there" && data.problem.value)) && <ProblemNotice problem={data.problem.value} again={() => void data.read()} />}
      {webhook && state === "there" && (
        <>
          <section class="panel card" aria-label={texts.webhooks.one}>
            <p>
              <WebhookState webhook={webhook} /> {webhook.description && <Foreign text={webhook.description} />}
            </p>
            <WebhookTrouble webhook={webhook} />
            <WebhookFacts webhook={webhook} />
          </section>
          <Log id={id} />
        </>
      )}
    </>
  );
}
