// Lists the clusters of a project, creates one, waits until it is ready, and reads its kubeconfig: what a program in
// TypeScript does with the types that openapi-typescript makes of openapi.yaml. Prints one JSON line for the test.
import createClient from "openapi-fetch";
import type { components, paths } from "./build/shootd.js";

type Cluster = components["schemas"]["Cluster"];
type Operation = components["schemas"]["Operation"];
type Problem = components["schemas"]["Problem"];

const { SHOOTD_URL: baseUrl, SHOOTD_TOKEN: token } = process.env;
const [project = "", name = ""] = process.argv.slice(2);
if (!baseUrl || !token || !project || !name) {
  throw new Error("usage: SHOOTD_URL= SHOOTD_TOKEN= list_clusters.js PROJECT NAME");
}
const client = createClient<paths, "application/json" | "application/problem+json">({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

function explain(problem: Problem): Error {
  const faults = (problem.errors ?? []).map((f) => `${f.pointer ?? f.parameter ?? f.header ?? "request"}: ${f.detail}`);
  return new Error([`${problem.code}: ${problem.detail}`, ...faults, problem.advice].join("\n"));
}

async function list(): Promise<Cluster[]> {
  const clusters: Cluster[] = [];
  for (let cursor: string | undefined; ; ) {
    const { data, error } = await client.GET("/v1/projects/{project}/clusters", {
      params: { path: { project }, query: { limit: 1, cursor } },
    });
    if (error) throw explain(error);
    clusters.push(...data.items.filter((c): c is Cluster => "spec" in c)); // `fields=summary` gives others
    if (data.next_cursor === null) return clusters;
    cursor = data.next_cursor;
  }
}

async function wait(operation: Operation): Promise<Operation> {
  for (;;) {
    const { data, error } = await client.GET("/v1/operations/{operation}", {
      params: { path: { operation: operation.id }, query: { wait: 55 } },
    });
    if (error) throw explain(error);
    if (data.status !== "pending" && data.status !== "running") return data;
  }
}

const before = await list();

const refused = await client.POST("/v1/projects/{project}/clusters", {
  params: { path: { project } },
  body: { name, spec: { kubernetes_version: "1.99" } },
});
if (!refused.error?.errors) throw new Error("1.99 was taken");
const valid: unknown[] = refused.error.errors[0]?.valid ?? [];

const created = await client.POST("/v1/projects/{project}/clusters", {
  params: { path: { project } },
  body: { name, labels: { made: "by-typescript" }, spec: { node_pools: [{ name: "work", minimum: 1, maximum: 2 }] } },
});
if (created.error) throw explain(created.error);
if (!("operation" in created.data) || created.data.operation === null) throw new Error("nothing is under way");
const operation = await wait(created.data.operation);
if (operation.status !== "succeeded") throw new Error(operation.error?.detail ?? operation.status);

const read = await client.GET("/v1/projects/{project}/clusters/{cluster}", { params: { path: { project, cluster: name } } });
if (read.error) throw explain(read.error);
const pool = read.data.observed?.node_pools?.[0]; // null where Cleura's answer cannot be read
const maximum: number | null | undefined = pool?.maximum;
const condition: string | null | undefined = read.data.status.conditions[0]?.type;

const kubeconfig = await client.GET("/v1/projects/{project}/clusters/{cluster}/kubeconfig", {
  params: { path: { project, cluster: name }, query: { ttl_seconds: 3600 } },
});
if (kubeconfig.error) throw explain(kubeconfig.error);

console.log(
  JSON.stringify({
    before: before.map((c) => c.name),
    valid,
    operation: operation.type,
    phase: read.data.status.phase,
    pool: pool?.name,
    maximum,
    machine_type: pool?.machine_type,
    condition,
    kubeconfig: kubeconfig.data.kubeconfig.startsWith("apiVersion"),
    after: (await list()).map((c) => c.name),
  }),
);
