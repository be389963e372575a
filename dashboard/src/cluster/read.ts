// The reads of the page of one cluster. They follow events of the cluster; they are frequent while an operation is open, else rare.
import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import { api, ask, type Result } from "../api";
import { every, listen } from "../live/life";
import type { Cluster, Event, Issue, Operation, Problem } from "../types";
import { isOpen } from "../ui/operation";

const MOVING_MS = 2_000;
const CALM_MS = 15_000;
const HISTORY = 50;

export type State = "loading" | "there" | "gone" | "failed";

/** Signals of one cluster, which exist as long as its page. */
function make(project: string, name: string) {
  const path = { project, cluster: name };
  const state = signal<State>("loading");
  const problem = signal<Problem | null>(null);
  const cluster = signal<Cluster | null>(null);
  /** Time of the observation. The header field is newer than the body, because the entity tag does not change with the time. */
  const observedAt = signal<string | null>(null);
  const operation = signal<Operation | null>(null);
  const issues = signal<Issue[]>([]);
  const events = signal<Event[]>([]);
  const operations = signal<Operation[]>([]);
  const usual = signal<number | null>(null);
  let tag = "";

  async function readCluster() {
    const result = await ask(api.GET("/v1/projects/{project}/clusters/{cluster}", { params: { path } }));
    if (!result.ok) return failed(result);
    const changed = tag !== (tag = result.response.headers.get("ETag") ?? "");
    cluster.value = result.value;
    observedAt.value = result.response.headers.get("Observed-At");
    state.value = "there";
    problem.value = null;
    const own = result.value.operation;
    // Only answers about operations have the messages of steps.
    if (own && (changed || isOpen(own))) await readOperation(own.id);
    else if (!own) operation.value = null;
    if (changed) await Promise.all([readIssues(), readHistory(), readUsual(own)]);
  }

  function failed(result: Result<unknown> & { ok: false }) {
    const code = result.problem?.code;
    problem.value = result.problem;
    if (code === "cluster_not_found" || code === "project_not_found") {
      state.value = "gone";
      void readHistory();
    } else if (!cluster.value) {
      state.value = "failed";
    }
  }

  async function readOperation(id: string) {
    const result = await ask(api.GET("/v1/operations/{operation}", { params: { path: { operation: id } } }));
    if (result.ok) operation.value = result.value;
  }

  async function readIssues() {
    const result = await ask(api.GET("/v1/projects/{project}/clusters/{cluster}/issues", { params: { path } }));
    if (result.ok) issues.value = result.value.items;
  }

  async function readHistory() {
    const [some, others] = await Promise.all([
      ask(api.GET("/v1/projects/{project}/clusters/{cluster}/events", { params: { path, query: { order: "desc", limit: HISTORY } } })),
      ask(api.GET("/v1/projects/{project}/clusters/{cluster}/operations", { params: { path, query: { limit: HISTORY } } })),
    ]);
    if (some.ok) events.value = (some.value as { items: Event[] }).items;
    if (others.ok) operations.value = others.value.items;
  }

  /** The usual duration of an operation of the same type as the open one, in seconds. */
  async function readUsual(own: Operation | null) {
    if (!own || !isOpen(own)) return void (usual.value = null);
    const result = await ask(api.GET("/v1/projects/{project}/durations", { params: { path: { project } } }));
    if (result.ok) usual.value = result.value.items.find((item) => item.type === own.type)?.p50_seconds ?? null;
  }

  let reading: Promise<void> | null = null;
  const read = () => (reading ??= readCluster().finally(() => (reading = null)));
  const isMoving = () => isOpen(cluster.value?.operation) || Boolean(cluster.value?.status.settling);

  function start() {
    void read();
    const mine = (event: Event) => event.data.project === project && event.data.cluster === name;
    const ends = [
      listen({ events: (some) => some.some(mine) && void read(), reset: () => void read() }),
      every(MOVING_MS, () => isMoving() && void read()),
      every(CALM_MS, () => void read()),
    ];
    return () => ends.forEach((end) => end());
  }

  return { state, problem, cluster, observedAt, operation, issues, events, operations, usual, read, start };
}

export type ClusterData = ReturnType<typeof make>;

export function useCluster(project: string, name: string): ClusterData {
  const data = useMemo(() => make(project, name), [project, name]);
  useEffect(() => data.start(), [data]);
  return data;
}
