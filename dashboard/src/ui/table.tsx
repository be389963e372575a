import type { ComponentChildren } from "preact";

/** `label` or `labelledBy` names the table for screen readers; `columns` are the headings of its columns; `kind` is a class of the table. */
type Props = { columns: Record<string, string>; label?: string; labelledBy?: string; kind?: string; panel?: boolean; children: ComponentChildren };

/** A plain table that scrolls sideways when its place is too narrow. */
export function Table({ columns, label, labelledBy, kind, panel = false, children }: Props) {
  return (
    <div class={panel ? "panel scroll" : "scroll"} tabIndex={0} role="region" aria-label={label} aria-labelledby={labelledBy}>
      <table class={kind}>
        <thead>
          <tr>
            {Object.entries(columns).map(([key, text]) => (
              <th key={key} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
