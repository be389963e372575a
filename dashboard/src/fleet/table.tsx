// All clusters, one row each. Only rows near the screen are in the document. All rows have the same height, so no row is measured. The row
// with the focus stays in the document wherever the user scrolls.
import { computed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { clusterLink } from "../router";
import { texts } from "../texts";
import { visible } from "../ui/foreign";
import { HealthWord, PhaseWord } from "../ui/phase";
import { When } from "../ui/time";
import { hidden, type ColumnKey } from "./kept";
import { order } from "./order";
import { change, hasMark, isTrouble, query, type Mark, type SortKey } from "./query";
import { isMoving, partsOf, revision, rows, type Row } from "./rows";
import { now } from "../live/life";

const OVERSCAN = 8;

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
const columns = computed(() => all.filter(({ key }) => !hidden.value.includes(key)));

const marks: Mark[] = ["expired", "expiring", "drifted", "stale", "unmanaged"];

const cells: Record<Exclude<ColumnKey, "name">, (row: Row, present: number) => ComponentChildren> = {
  phase: (row) => <PhaseWord phase={row.phase} progress={isMoving(row.phase) ? row.progress : null} />,
  health: (row) => <HealthWord health={row.health} />,
  version: (row) => row.kubernetes_version ?? <span class="quiet">{texts.none}</span>,
  expires: (row) => <When at={row.expires_at} day />,
  marks: (row, present) =>
    marks.filter((mark) => hasMark(row, mark, present)).map((mark) => (
      <span key={mark} class={`tag ${mark}`}>
        {texts.mark[mark]}
      </span>
    )),
  changed: (row) => <When at={row.updated_at} none={texts.never} />,
  message: (row) => row.message && visible(row.message),
};

function Cells({ row }: { row: Row }) {
  const present = now.peek();
  return (
    <>
      {columns.value.map(({ key }) => key !== "name" && (
        <div key={key} role="cell" class={key === "version" ? "cell version mono" : `cell ${key}`}>
          {cells[key](row, present)}
        </div>
      ))}
    </>
  );
}

/** The row of a deleted cluster stays until the next order is applied. Its link stays the same element, because it may have the focus. */
function RowView({ id, row, index, height }: { id: string; row: Row | undefined; index: number; height: number }) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (element.current) element.current.style.transform = `translateY(${index * height}px)`;
  }, [index, height]);
  const [project, name] = partsOf(id);
  const kind = !row ? "gone" : isTrouble(row, now.peek()) ? "trouble" : "";
  return (
    <div role="row" class={`row ${kind}`} aria-rowindex={index + 2} data-key={id} ref={element}>
      <div role="cell" class="cell name">
        <a href={clusterLink(project, name)}>{name}</a>
        <span class="quiet project">{project}</span>
      </div>
      {row ? <Cells row={row} /> : <div role="cell" class="cell phase quiet">{texts.gone}</div>}
    </div>
  );
}

/** First and last index on the screen, and the height of a row from the style sheet. */
function useWindow() {
  const scroller = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600, row: 44 });
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    let frame = 0;
    const read = () => {
      frame = 0;
      const next = { top: box.scrollTop, height: box.clientHeight, row: head.current?.offsetHeight || 44 };
      setView((old) => (old.top === next.top && old.height === next.height && old.row === next.row ? old : next));
    };
    const soon = () => (frame ||= requestAnimationFrame(read));
    const sizes = new ResizeObserver(soon);
    sizes.observe(box);
    box.addEventListener("scroll", soon, { passive: true });
    read();
    return () => {
      cancelAnimationFrame(frame);
      sizes.disconnect();
      box.removeEventListener("scroll", soon);
    };
  }, []);
  return { scroller, head, view };
}

export function ClusterTable() {
  void revision.value;
  const keys = order.shown.value;
  const { scroller, head, view } = useWindow();
  const body = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<string | null>(null);
  const pointer = useRef(false);

  useLayoutEffect(() => {
    if (body.current) body.current.style.height = `${keys.length * view.row}px`;
  }, [keys.length, view.row]);
  const names = columns.value.map(({ key }) => `var(--w-${key})`).join(" ");
  useLayoutEffect(() => scroller.current?.style.setProperty("--columns", names), [names]);
  useLayoutEffect(() => () => void order.hold(false), []);

  const first = Math.max(0, Math.floor(view.top / view.row) - OVERSCAN);
  const last = Math.min(keys.length, Math.ceil((view.top + view.height) / view.row) + OVERSCAN);
  const shown = keys.slice(first, last).map((id, i) => ({ id, index: first + i }));
  const kept = focused === null ? -1 : keys.indexOf(focused);
  if (focused !== null && kept >= 0 && kept < first) shown.unshift({ id: focused, index: kept });
  if (focused !== null && kept >= last) shown.push({ id: focused, index: kept });

  const hold = (hasFocus: boolean) => order.hold(pointer.current || hasFocus);
  return (
    <div class="table-area"
      onPointerEnter={() => ((pointer.current = true), hold(focused !== null))}
      onPointerLeave={() => ((pointer.current = false), hold(focused !== null))}
      onFocusIn={(event) => {
        const key = (event.target as HTMLElement).closest<HTMLElement>("[data-key]")?.dataset.key ?? null;
        setFocused(key);
        hold(true);
      }}
      onFocusOut={(event) => {
        if (event.currentTarget.contains(event.relatedTarget as Node | null)) return;
        setFocused(null);
        hold(false);
      }}>
      <div class="table panel" role="table" aria-label={texts.fleet.heading} aria-rowcount={keys.length + 1} aria-colcount={columns.value.length} ref={scroller}>
        <div role="rowgroup" class="thead" ref={head}>
          <div role="row" class="row" aria-rowindex={1}>
            {columns.value.map((column) => (
              <HeaderCell key={column.key} column={column} />
            ))}
          </div>
        </div>
        <div role="rowgroup" class="tbody" ref={body}>
          {shown.map(({ id, index }) => (
            <RowView key={id} id={id} row={rows.get(id)} index={index} height={view.row} />
          ))}
        </div>
      </div>
      {order.differs.value && (
        <button type="button" class="primary order-note" onClick={order.apply}>
          {texts.filter.orderChanged}
        </button>
      )}
    </div>
  );
}
