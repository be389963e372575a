import { texts } from "../texts";
import type { Cluster, NodePool, NodePoolSpec } from "../types";
import { say } from "./spec";
import { Foreign } from "../ui/foreign";
import { Table } from "../ui/table";

function labelsOf(labels: Record<string, string> | null | undefined) {
  return Object.entries(labels ?? {}).map(([key, value]) => (value ? `${key}=${value}` : key)).join(", ");
}

const taintsOf = (pool: NodePool) => (pool.taints ?? []).map((taint) => `${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`).join(", ");

/** First the existing pools, then the requested pools that do not exist yet. */
function poolsOf(cluster: Cluster): { name: string; observed: NodePool | null; spec: NodePoolSpec | null }[] {
  const specs = new Map((cluster.spec?.node_pools ?? []).map((pool) => [pool.name ?? "", pool]));
  const observed = (cluster.observed?.node_pools ?? []).map((pool) => {
    const spec = specs.get(pool.name ?? "") ?? null;
    specs.delete(pool.name ?? "");
    return { name: pool.name ?? texts.none, observed: pool, spec };
  });
  return [...observed, ...[...specs].map(([name, spec]) => ({ name, observed: null, spec }))];
}

export function PoolsPanel({ cluster }: { cluster: Cluster }) {
  const pools = poolsOf(cluster);
  const differs = (name: string) => cluster.drift.some((one) => one.path === `node_pools.${name}` || one.path.startsWith(`node_pools.${name}.`));
  return (
    <section class="panel" aria-labelledby="pools-heading">
      <h2 id="pools-heading">{texts.pools.heading}</h2>
      {pools.length ? (
        <Table labelledBy="pools-heading" columns={texts.pools.column}>
          {pools.map(({ name, observed, spec }) => {
            const pool = observed ?? spec;
            return (
              <tr key={name} class={differs(name) ? "differs" : ""}>
                <th scope="row">
                  <Foreign text={name} />
                  {differs(name) && <span class="tag drifted">{texts.spec.differs}</span>}
                  {!observed && <span class="tag">{texts.pools.pending}</span>}
                </th>
                <td><Foreign mono text={say(pool?.machine_type)} /></td>
                <td class="mono">{texts.pools.size(say(pool?.minimum), say(pool?.maximum))}</td>
                <td class="mono">{say(pool?.max_surge)}</td>
                <td class="mono">{pool?.volume_size_gib == null ? say(pool?.volume_size_gib) : texts.gib(pool.volume_size_gib)}</td>
                <td><Foreign mono text={pool?.image ? `${say(pool.image.name)} ${say(pool.image.version)}` : texts.none} /></td>
                <td><Foreign text={say(pool?.zones)} /></td>
                <td><Foreign text={[labelsOf(pool?.labels), observed ? taintsOf(observed) : ""].filter(Boolean).join(" · ") || texts.none} /></td>
              </tr>
            );
          })}
        </Table>
      ) : (
        <p class="quiet">{texts.pools.none}</p>
      )}
    </section>
  );
}
