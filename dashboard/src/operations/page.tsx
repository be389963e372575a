// Operations of all clusters: open ones first, then the newest that have ended.
import { useEffect, useMemo, useState } from "preact/hooks";

import { now } from "../live/life";
import { clusterLink, placeQuery } from "../router";
import { texts } from "../texts";
import type { Operation } from "../types";
import { useCountSpoken } from "../ui/count_spoken";
import { brief, visible, wordOf } from "../ui/foreign";
import { isOpen, lastedOf, OperationBody, OperationProgress, OperationStatus } from "../ui/operation";
import { PageHead } from "../ui/page_head";
import { Pager } from "../ui/paging";
import { ProblemNotice } from "../ui/problem";
import { optionsOf, projectField, QueryFilters, type Field } from "../ui/query_filters";
import { useStill } from "../ui/still";
import { clock, When } from "../ui/time";
import { makeOperations } from "./read";

const fields = (): Field[] => [
  { name: "status", label: texts.operations.status, options: optionsOf(texts.operationStatus) },
  { name: "type", label: texts.operations.type, options: optionsOf(texts.operationType) },
  projectField(),
  { name: "cluster", label: texts.operations.cluster },
];

function Lasted({ operation }: { operation: Operation }) {
  const lasted = lastedOf(operation, isOpen(operation) ? now.value : 0);
  return lasted === null ? null : <span class="mono">{clock(lasted)}</span>;
}

/** The steps are rendered when the operation is opened. */
function Entry({ operation }: { operation: Operation }) {
  const [opened, setOpened] = useState(false);
  return (
    <li class={isOpen(operation) ? "entry is-open" : "entry"}>
      <When at={operation.created_at} focusable />
      <p class="entry-name">
        <a href={clusterLink(operation.project, operation.cluster)}>{visible(operation.cluster)}</a> <span class="quiet project">{visible(operation.project)}</span>
      </p>
      <details onToggle={(event) => setOpened(event.currentTarget.open)}>
        <summary>
          <b>{wordOf(texts.operationType, operation.type)}</b> <OperationStatus operation={operation} />{" "}
          {isOpen(operation) && <OperationProgress operation={operation} />} <Lasted operation={operation} />
          {operation.error && <span> · {brief(operation.error.title)}</span>}
          {operation.requested_by && <span class="quiet"> · {texts.operation.by(brief(operation.requested_by))}</span>}
        </summary>
        {opened && (
          <div class="entry-body">
            <OperationBody operation={operation} listed />
          </div>
        )}
      </details>
    </li>
  );
}

type Data = ReturnType<typeof makeOperations>;

/** Open operations are on the first page only. */
function operationsOf({ open, ended }: Data): Operation[] {
  const done = ended.items.value, known = new Set(done.map((one) => one.id));
  return ended.number.value === 1 ? [...open.value.filter((one) => !known.has(one.id)), ...done] : done;
}

function List({ data, asked }: { data: Data; asked: string }) {
  const { ended } = data;
  const first = ended.number.value === 1;
  const still = useStill(operationsOf(data), (one) => one.id, `${asked} ${ended.number.value}`);
  if (!still.items.length) return <p class="panel empty">{asked ? texts.operations.noneMatch : texts.operations.none}</p>;
  return (
    <>
      <div class="list-area" {...still.area}>
        <ul class="panel entries" tabIndex={-1} aria-label={texts.operations.heading}>
          {still.items.map((operation) => (
            <Entry key={operation.id} operation={operation} />
          ))}
        </ul>
        {still.differs && (
          <button type="button" class="primary order-note" onClick={still.apply}>
            {texts.filter.orderChanged}
          </button>
        )}
      </div>
      {first && data.openMore.value && <p class="quiet">{texts.operations.openMore(data.open.value.length)}</p>}
      <Pager pages={ended} />
    </>
  );
}

function foundOf(data: Data): string {
  const found = operationsOf(data).length;
  return found ? texts.operations.found(found, data.openMore.value || data.ended.more.value) : texts.operations.noneMatch;
}

export function OperationsPage() {
  const asked = String(placeQuery.value);
  const data = useMemo(() => makeOperations(new URLSearchParams(asked)), [asked]);
  useEffect(() => data.start(), [data]);
  const count = data.open.value.length;
  const state = data.state.value, problem = data.problem.value ?? data.ended.problem.value;
  useCountSpoken(asked, state === "there" && asked !== "", () => foundOf(data));
  return (
    <>
      <PageHead heading={texts.operations.heading} title={texts.operations.title(count)}>
        {state === "there" && <p class="quiet">{texts.operations.count(count)}</p>}
      </PageHead>
      <QueryFilters fields={fields()} />
      {state === "loading" && <p class="panel empty">{texts.pages.loading}</p>}
      {(state === "failed" || problem) && <ProblemNotice problem={problem} again={() => void data.again()} />}
      {state === "there" && <List data={data} asked={asked} />}
    </>
  );
}
