// One webhook: its state, and every delivery with every attempt.
import { Fragment } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { now } from "../live/life";
import { clusterLink, placeQuery } from "../router";
import { texts } from "../texts";
import type { Delivery } from "../types";
import { useCountSpoken } from "../ui/count_spoken";
import { brief, Foreign, visible, wordOf } from "../ui/foreign";
import { Pager, PagesState } from "../ui/paging";
import { ProblemNotice } from "../ui/problem";
import { optionsOf, QueryFilters, type Field } from "../ui/query_filters";
import { useStill } from "../ui/still";
import { Cell, Row, Table } from "../ui/table";
import { When } from "../ui/time";
import { webhookName } from "../ui/webhook";
import { WebhookFacts, WebhookState, WebhookTrouble } from "./list";
import { makeDeliveries, makeWebhook } from "./read";

const fields: Field[] = [{ name: "status", label: texts.deliveries.status, options: optionsOf(texts.deliveries.state) }];

const answerOf = (status: number | null | undefined) => (status == null ? texts.deliveries.noAnswer : String(status));

function Attempts({ delivery }: { delivery: Delivery }) {
  const label = texts.deliveries.column;
  return (
    <Table kind="attempts" stacked label={texts.deliveries.attemptsOf(brief(delivery.event_id))} columns={label}>
      {delivery.attempts.map((attempt, i) => (
        <Row key={i}>
          <Cell label={label.number} head kind="mono">
            {delivery.attempt - delivery.attempts.length + i + 1}
          </Cell>
          <Cell label={label.at}>
            <When at={attempt.at} focusable />
          </Cell>
          <Cell label={label.status} kind="mono">
            {answerOf(attempt.response_status)}
          </Cell>
          <Cell label={label.latency} kind="mono">
            {texts.ms(attempt.latency_ms)}
          </Cell>
          <Cell label={label.error}>{attempt.error ? <Foreign mono text={attempt.error} /> : texts.deliveries.state.delivered}</Cell>
        </Row>
      ))}
    </Table>
  );
}

/** The time of the next attempt may pass before the deliveries are read again; it is then due. */
function Next({ delivery: { waits_for: waits, next_attempt_at: at } }: { delivery: Delivery }) {
  if (!waits) return null;
  const isAhead = waits === "time" && at != null && Date.parse(at) > now.value;
  return <span class="quiet">{isAhead ? <>{texts.deliveries.next} <When at={at} /></> : wordOf(texts.deliveries.waits, waits)}</span>;
}

/** A delivery that waits because the receiver fails is no usual wait. */
const kindOf = ({ status, attempt }: Delivery, fails: boolean) =>
  status === "delivered" ? "succeeded" : status === "pending" && (fails || attempt > 0) ? "late" : status;

function Entry({ delivery, fails }: { delivery: Delivery; fails: boolean }) {
  const { status, project, cluster } = delivery;
  return (
    <li class="entry">
      <When at={delivery.created_at} focusable />
      <p class="entry-name">
        <b>{wordOf(texts.event, delivery.event_type)}</b>{" "}
        {project && cluster && <a href={clusterLink(project, cluster)}>{visible(cluster)}</a>}{" "}
        {project && <span class="quiet project">{visible(project)}</span>}
      </p>
      <details>
        <summary>
          <span class={`tag status-${kindOf(delivery, fails)}`}>{wordOf(texts.deliveries.state, status)}</span>{" "}
          {delivery.attempt > 0 && (
            <span class="mono">{texts.deliveries.last(answerOf(delivery.response_status), delivery.latency_ms == null ? texts.none : texts.ms(delivery.latency_ms))}</span>
          )}{" "}
          <span class="quiet">{texts.deliveries.attempts(delivery.attempt)}</span>{" "}
          <Next delivery={delivery} />
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

function foundOf({ items, more }: ReturnType<typeof makeDeliveries>): string {
  const found = items.value.length;
  return found ? texts.deliveries.found(found, more.value) : texts.deliveries.noneMatch;
}

function Log({ id, fails }: { id: string; fails: boolean }) {
  const asked = placeQuery.value.get("status") ?? "";
  const deliveries = useMemo(() => makeDeliveries(id, asked), [id, asked]);
  useEffect(() => deliveries.start(), [deliveries]);
  const still = useStill(deliveries.items.value, (one) => one.id, `${asked} ${deliveries.number.value}`);
  useCountSpoken(asked, deliveries.state.value === "there" && asked !== "", () => foundOf(deliveries));
  const isEmpty = deliveries.state.value === "there" && !still.items.length;
  return (
    <section class="log" aria-labelledby="deliveries-heading">
      <h2 id="deliveries-heading">{texts.deliveries.heading}</h2>
      <QueryFilters fields={fields} />
      <PagesState pages={deliveries} />
      {isEmpty && <p class="panel empty">{asked ? texts.deliveries.noneMatch : texts.deliveries.none}</p>}
      {still.items.length > 0 && (
        <div class="list-area" {...still.area}>
          <ul class="panel entries" tabIndex={-1} aria-label={texts.deliveries.heading}>
            {still.items.map((delivery) => (
              <Entry key={delivery.id} delivery={delivery} fails={fails} />
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

/** A line may end after each part of the address. */
function Address({ url }: { url: string }) {
  const parts = visible(url).match(/[^/?&]+[/?&]*|[/?&]+/g) ?? [];
  return (
    <>
      {parts.map((part, i) => (
        <Fragment key={i}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </>
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
        <h1 tabIndex={-1} class="foreign">{webhook ? webhook.description ? webhookName(webhook) : <Address url={webhook.url} /> : texts.webhooks.one}</h1>
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
            {webhook.description && <p class="foreign mono"><Address url={webhook.url} /></p>}
            <WebhookTrouble webhook={webhook} />
            <WebhookFacts webhook={webhook} />
          </section>
          <Log id={id} fails={webhook.status.state === "failing"} />
        </>
      )}
    </>
  );
}
