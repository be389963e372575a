import type { ComponentChildren } from "preact";

/**
 * `label` or `labelledBy` names the table for screen readers; `columns` are the headings of its columns; `kind` is a class of the table.
 * `stacked`: on narrow screens each row becomes a card; its rows and cells are then made of `Row` and `Cell`.
 */
type Props = {
  columns: Record<string, string>; label?: string; labelledBy?: string; kind?: string; panel?: boolean; stacked?: boolean; children: ComponentChildren;
};

/** A plain table that scrolls sideways when its place is too narrow. The roles are repeated, because a table of cards would lose them. */
export function Table({ columns, label, labelledBy, kind = "", panel = false, stacked = false, children }: Props) {
  return (
    <div class={panel ? "panel scroll" : "scroll"} tabIndex={0} role="region" aria-label={label} aria-labelledby={labelledBy}>
      <table class={stacked ? `stacked ${kind}` : kind} role="table">
        <thead role="rowgroup">
          <tr role="row">
            {Object.entries(columns).map(([key, text]) => (
              <th key={key} scope="col" role="columnheader">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">{children}</tbody>
      </table>
    </div>
  );
}

export function Row({ kind, children }: { kind?: string; children: ComponentChildren }) {
  return (
    <tr role="row" class={kind}>
      {children}
    </tr>
  );
}

/** `label`: the heading of its column, which a card shows beside it. `head`: it names its row. */
type CellProps = { label: string; head?: boolean; kind?: string; children: ComponentChildren };

export function Cell({ label, head = false, kind, children }: CellProps) {
  return head ? (
    <th scope="row" role="rowheader" class={kind} data-label={label}>
      {children}
    </th>
  ) : (
    <td role="cell" class={kind} data-label={label}>
      {children}
    </td>
  );
}
