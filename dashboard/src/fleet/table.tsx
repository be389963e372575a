// All clusters, one row each. Only rows near the screen are in the document, and all rows while the page is printed. All rows have the same
// height, so no row is measured. The row with the focus stays in the document wherever the user scrolls.
import { computed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { clusterLink } from "../router";
import { texts } from "../texts";
import { isPlace } from "../ui/focus";
import { brief, visible } from "../ui/foreign";
import { healthWord, phaseWord } from "../ui/phase";
import { usePrinting } from "../ui/printing";
import { exactTimes, When } from "../ui/time";
import { hidden } from "./columns";
import { useElements, useGrip } from "./elements";
import type { ColumnKey } from "./kept";
import { movedBy, order } from "./order";
import { change, expiries, expiryOf, hasMark, isTrouble, query, type Mark, type Query, type SortKey } from "./query";
import { isMoving, partsOf, revision, rows, type Row } from "./rows";
import { now } from "../live/life";

const OVERSCAN = 8;
/** The limit of rows on paper: the browser waits for them. */
const PRINTED = 2000;
const REST_MS = 100;
const STEP = 2, STEP_MS = 20;
/** The height of a row in px until the page is laid out. */
const ROW = 40;

type Column = { key: ColumnKey; sort?: SortKey };
const all: Column[] = [
  { key: "name", sort: "name" },
  { key: "phase", sort: "phase" },
  { key: "health", sort: "health" },
  { key: "version", sort: "version" },
  { key: "expires", sort: "expires" },
  { key: "marks" },
  { key: "changed", sort: "changed" },
  { key: "message" },
];

function HeaderCell({ column }: { column: Column }) {
  const asked = query.value;
  const { sort, key } = column;
  const label = texts.column[key];
  const active = sort === asked.sort;
  return (
    <div role="columnheader" class={`cell ${key}`} {...(active ? { "aria-sort": asked.reverse ? ("descending" as const) : ("ascending" as const) } : {})}>
      {sort ? (
        <button type="button" class="sort" onClick={() => change({ sort, reverse: active && !asked.reverse })}>
          {label}
          <span class="sort-mark" aria-hidden="true">
            {active ? (asked.reverse ? "▼" : "▲") : ""}
          </span>
        </button>
      ) : (
        label
      )}
    </div>
  );
}

/** Name, phase, and the other columns that the user has not hidden. */
const columns = computed(() => all.filter(({ key }) => !(hidden.value as ColumnKey[]).includes(key)));

const marks: Mark[] = ["expired", "expiring", "drifted", "stale", "unmanaged"];
const troubles = marks.filter((mark) => mark !== "unmanaged");

const cells: Record<Exclude<ColumnKey, "name">, (row: Row, present: number) => ComponentChildren> = {
  phase: ({ status }) => phaseWord(status.phase, isMoving(status.phase) ? status.progress : null),
  health: (row) => healthWord(row.status.health),
  version: (row) => (row.kubernetes_version ? brief(row.kubernetes_version) : <span class="quiet">{texts.none}</span>),
  expires: (row) => <When at={row.expires_at} />,
  marks: (row, present) =>
    marks.filter((mark) => hasMark(row, mark, present)).map((mark) => (
      <span key={mark} class={`tag ${mark}`}>
        {texts.mark[mark]}
      </span>
    )),
  changed: (row) => <When at={row.updated_at} none={texts.never} />,
  message: ({ status }) => status.message && visible(status.message),
};

/** All cells but the name. A component for each part would take a browser time and memory at each new row. */
function cellsOf(row: Row, present: number) {
  return columns.value.map(({ key }) => key !== "name" && (
    <div key={key} role="cell" class={key === "version" ? "cell version mono" : `cell ${key}`}>
      {cells[key](row, present)}
    </div>
  ));
}

/** Narrow screens show it beside the project, because they have no column for it (style.css). The phase is shown beside it. */
function firstMark(row: Row, present: number) {
  const mark = troubles.find((one) => hasMark(row, one, present));
  if (mark) return <span class={`tag first-mark ${mark}`}>{texts.mark[mark]}</span>;
  const { phase, health } = row.status, isSaid = phase === "failed" || phase === "degraded";
  return health === "unhealthy" && !isSaid ? <span class="tag first-mark stale">{texts.health.unhealthy}</span> : null;
}

/**
 * It renders again when its arguments or the columns have changed; `expiry` is an argument only for that. The row of a deleted cluster stays
 * until the next order is applied. Its link stays the same element, because it may have the focus.
 */
function RowView({ id, row, index, height }: { id: string; row: Row | undefined; expiry: string | undefined; index: number; height: number }) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (element.current) element.current.style.top = `${index * height}px`;
  }, [index, height]);
  const [project, name] = partsOf(id), present = now.peek();
  const kind = !row ? "gone" : isTrouble(row) ? "trouble" : "";
  const nameCell = (
    <div key="name" role="cell" class="cell name">
      <a href={clusterLink(project, name)}>{visible(name)}</a>
      <span class="below">
        <span class="quiet project">{visible(project)}</span>
        {row && firstMark(row, present)}
      </span>
    </div>
  );
  const others = row ? cellsOf(row, present) : [<div key="phase" role="cell" class="cell phase quiet">{texts.gone}</div>];
  return (
    <div role="row" class={`row ${kind}`} aria-rowindex={index + 2} data-key={id} ref={element}>
      {[nameCell, ...others]}
    </div>
  );
}

/** The height of a row in px; the style sheet has it in rem. */
function rowHeight(box: Element): number {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  return parseFloat(getComputedStyle(box).getPropertyValue("--row-height")) * rem || ROW;
}

/** The part of the list on the screen. */
function useWindow() {
  const scroller = useRef<HTMLDivElement>(null);
  const row = useRef(ROW);
  const [view, setView] = useState({ top: 0, height: 600, row: ROW });
  const read = () => {
    const box = scroller.current;
    if (!box) return;
    const next = { top: box.scrollTop, height: box.clientHeight, row: row.current };
    setView((old) => (old.top === next.top && old.height === next.height && old.row === next.row ? old : next));
  };
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    let frame = 0;
    const soon = () => (frame ||= requestAnimationFrame(() => ((frame = 0), read())));
    // It calls back before the first paint, when the browser has laid out the page anyway. Rows change their height only together with the box.
    const sizes = new ResizeObserver(() => ((row.current = rowHeight(box)), read()));
    sizes.observe(box);
    box.addEventListener("scroll", soon, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      sizes.disconnect();
      box.removeEventListener("scroll", soon);
    };
  }, []);
  return { scroller, view, read };
}

/**
 * The number of rows to add before and after those on the screen. It is 0 while most rows on the screen are new, so that these are painted
 * sooner; the other rows follow 100 ms after the last such change, few at a time, so that no frame is late.
 */
function useMargin(onScreen: string[]): number {
  const { current: last } = useRef({ keys: new Set<string>(), margin: 0, rest: 0 });
  const [, again] = useState(0);
  const areNew = onScreen.filter((key) => last.keys.has(key)).length * 2 < onScreen.length;
  const grow = () => {
    last.margin += STEP;
    again((n) => n + 1);
    if (last.margin < OVERSCAN) last.rest = window.setTimeout(grow, STEP_MS);
  };
  useLayoutEffect(() => {
    last.keys = new Set(onScreen);
    if (!areNew) return;
    last.margin = 0;
    clearTimeout(last.rest);
    last.rest = window.setTimeout(grow, REST_MS);
  });
  useLayoutEffect(() => () => clearTimeout(last.rest), []);
  return areNew ? 0 : last.margin;
}

/**
 * Sets the height of the list, and keeps the rows on the screen in their place when rows come or go above them (DA-12). Another filter or
 * order of the user begins at the top.
 */
function useSteadyRows(keys: string[], asked: Query, { scroller, view, read }: ReturnType<typeof useWindow>) {
  const body = useRef<HTMLDivElement>(null);
  const last = useRef({ keys, asked });
  useLayoutEffect(() => {
    const box = scroller.current, before = last.current;
    if (!box || !body.current) return;
    const areOthers = before.asked !== asked;
    // A read of the position makes the browser lay out the page, and a smaller height may change the position.
    const top = before.keys === keys || areOthers ? 0 : box.scrollTop;
    body.current.style.height = `${keys.length * view.row}px`;
    last.current = { keys, asked };
    if (areOthers && view.top > 0) {
      box.scrollTop = 0;
      read();
    }
    if (top === 0) return;
    const first = Math.floor(top / view.row), end = Math.ceil((top + box.clientHeight) / view.row);
    box.scrollTop = top + movedBy(before.keys, keys, first, end) * view.row;
    read();
  }, [keys, asked, view.row]);
  return body;
}

export function ClusterTable() {
  void revision.value;
  void expiries.value;
  const expiryAt = (id: string) => {
    const row = rows.get(id);
    return row && expiryOf(row, now.peek());
  };
  const keys = order.shown.value;
  const part = useWindow();
  const { scroller, view } = part;
  const body = useSteadyRows(keys, query.value, part);
  const [focused, setFocused] = useState<string | null>(null);
  const pointer = useRef(false);
  const isHeld = useGrip();

  const names = columns.value.map(({ key }) => `var(--w-${key})`).join(" ");
  useLayoutEffect(() => scroller.current?.style.setProperty("--columns", names), [names]);
  useLayoutEffect(() => () => void order.hold(false), []);

  const top = Math.floor(view.top / view.row), end = Math.ceil((view.top + view.height) / view.row);
  const margin = useMargin(keys.slice(top, end));
  const isPrinting = usePrinting();
  const first = isPrinting ? 0 : Math.max(0, top - margin), last = Math.min(keys.length, isPrinting ? PRINTED : end + margin);
  const shown = keys.slice(first, last).map((id, i) => ({ id, index: first + i }));
  const kept = focused === null ? -1 : keys.indexOf(focused);
  if (focused !== null && kept >= 0 && kept < first) shown.unshift({ id: focused, index: kept });
  if (focused !== null && kept >= last) shown.push({ id: focused, index: kept });

  const elementOf = useElements(shown.map(({ id }) => id), () => focused !== null || isHeld(body.current));

  const hold = (hasFocus: boolean) => order.hold(pointer.current || hasFocus);
  return (
    <div class="table-area"
      onPointerEnter={() => ((pointer.current = true), hold(focused !== null))}
      onPointerLeave={() => ((pointer.current = false), hold(focused !== null))}
      onFocusIn={(event) => {
        const key = (event.target as HTMLElement).closest<HTMLElement>("[data-key]")?.dataset.key ?? null;
        setFocused(key);
        hold(!isPlace(event.target));
      }}
      onFocusOut={(event) => {
        if (event.currentTarget.contains(event.relatedTarget as Node | null)) return;
        setFocused(null);
        hold(false);
      }}>
      <div class={exactTimes.value ? "table panel exact-times" : "table panel"} role="table" tabIndex={-1} aria-label={texts.fleet.heading} aria-rowcount={keys.length + 1}
        aria-colcount={columns.value.length} ref={scroller}>
        <div role="rowgroup" class="thead">
          <div role="row" class="row" aria-rowindex={1}>
            {columns.value.map((column) => (
              <HeaderCell key={column.key} column={column} />
            ))}
          </div>
        </div>
        <div role="rowgroup" class="tbody" ref={body}>
          {shown.map(({ id, index }) => (
            <RowView key={elementOf(id)} id={id} row={rows.get(id)} expiry={expiryAt(id)} index={index} height={view.row} />
          ))}
        </div>
      </div>
      {isPrinting && keys.length > last && <p class="quiet">{texts.fleet.printed(last, keys.length)}</p>}
      {order.differs.value && (
        <button type="button" class="primary order-note" onClick={order.apply}>
          {texts.filter.orderChanged}
        </button>
      )}
    </div>
  );
}
