// The spec beside the observed state. Rows with a difference are marked.
import { texts } from "../texts";
import type { Cluster } from "../types";
import { Foreign, visible } from "../ui/foreign";
import { Table } from "../ui/table";

type Row = { path: string; wanted: unknown; found: unknown; differs: boolean };

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** Node pools and schedules have panels of their own. */
const elsewhere = new Set(["node_pools", "hibernation_schedules"]);

/** Members as paths; each member of an object has a path of its own. */
function flat(value: unknown, path: string, into: Map<string, unknown>) {
  if (isRecord(value) && Object.keys(value).length) for (const [key, inner] of Object.entries(value)) flat(inner, path ? `${path}.${key}` : key, into);
  else if (path && !elsewhere.has(path)) into.set(path, value);
}

export function compare(cluster: Cluster): Row[] {
  const wanted = new Map<string, unknown>(), found = new Map<string, unknown>();
  flat(cluster.spec, "", wanted);
  flat(cluster.observed, "", found);
  // Paths of drift may also lie inside a pool.
  const differing = cluster.drift.map((one) => ({ path: one.path, wanted: one.wanted, found: one.found, differs: true }));
  const drifted = new Set(differing.map((one) => one.path));
  const paths = [...new Set([...found.keys(), ...wanted.keys()])].filter((path) => !drifted.has(path));
  return [...differing, ...paths.map((path) => ({ path, wanted: wanted.get(path), found: found.get(path), differs: false }))];
}

export function say(value: unknown): string {
  if (value === undefined) return texts.spec.notSet;
  if (value === null) return texts.none;
  if (value === true) return texts.yes;
  if (value === false) return texts.no;
  if (Array.isArray(value)) return value.length ? value.map((one) => (isRecord(one) ? JSON.stringify(one) : String(one))).join(", ") : texts.empty;
  return isRecord(value) ? (Object.keys(value).length ? JSON.stringify(value) : texts.empty) : String(value);
}

function Members({ rows }: { rows: Row[] }) {
  return (
    <Table labelledBy="spec-heading" columns={texts.spec.column}>
      {rows.map((row) => (
        <tr key={row.path} class={row.differs ? "differs" : ""}>
          <th scope="row" class="mono">
            {visible(row.path)}
            {row.differs && <span class="tag drifted">{texts.spec.differs}</span>}
          </th>
          <td>{row.wanted === undefined ? <span class="quiet">{texts.spec.notSet}</span> : <Foreign text={say(row.wanted)} />}</td>
          <td>
            <Foreign text={say(row.found)} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Members that the spec leaves to Cleura are in a part that is closed at first. */
export function SpecPanel({ cluster }: { cluster: Cluster }) {
  const rows = compare(cluster);
  const asked = rows.filter((row) => row.differs || row.wanted !== undefined);
  const left = rows.filter((row) => !asked.includes(row));
  return (
    <section class="panel" aria-labelledby="spec-heading">
      <h2 id="spec-heading">{texts.spec.heading}</h2>
      <p class="quiet">{!cluster.managed ? texts.spec.unmanaged : cluster.drift.length ? texts.spec.drift(cluster.drift.length) : texts.spec.noDrift}</p>
      {asked.length > 0 && <Members rows={asked} />}
      {left.length > 0 && (
        <details open={!asked.length}>
          <summary>{texts.spec.left(left.length)}</summary>
          <Members rows={left} />
        </details>
      )}
    </section>
  );
}
