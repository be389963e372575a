// The reads of the page of one cluster. They follow events of the cluster; they are frequent while an operation is open, else rare.
import { batch, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import { api, ask, type Result } from "../api";
import { goesOn } from "../live/again";
import { gathered } from "../live/gather";
import { every, listen } from "../live/life";
import type { Cluster, Event, Issue, Operation, Problem } from "../types";
import { isOpen } from "../ui/operation";
import { nothing, type Part } from "./history";

const MOVING_MS = 2_000;
const CALM_MS = 15_000;
const HISTORY = 50;

type Page<T> = { items: T[]; next_cursor: string | null };
const partOf = <T,>({ items, next_cursor }: Page<T>): Part<T> => ({ items, isWhole: next_cursor === null });

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
  const events = signal<Part<Event>>(nothing);
  const operations = signal<Part<Operation>>(nothing);
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

  let turn = 0;
  async function readHistory() {
    const mine = ++turn;
    const [some, others] = await Promise.all([
      ask(api.GET("/v1/projects/{project}/clusters/{cluster}/events", { params: { path, query: { order: "desc", limit: HISTORY } } })),
      ask(api.GET("/v1/projects/{project}/clusters/{cluster}/operations", { params: { path, query: { limit: HISTORY } } })),
    ]);
    if (mine !== turn) return;
    batch(() => {
      if (some.ok) events.value = partOf(some.value as Page<Event>);
      if (others.ok) operations.value = partOf(others.value);
    });
  }

  /** The usual duration of an operation of the same type as the open one, in seconds. */
  async function readUsual(own: Operation | null) {
    if (!own || !isOpen(own)) return void (usual.value = null);
    const result = await ask(api.GET("/v1/projects/{project}/durations", { params: { path: { project } } }));
    if (result.ok) usual.value = result.value.items.find((item) => item.type === own.type)?.p50_seconds ?? null;
  }

  let reading: Promise<void> | null = null;
  const read = () => (reading ??= readCluster().finally(() => (reading = null)));
  /** Not every event of a cluster changes its entity tag. */
  const soonHistory = gathered(readHistory);
  const isMoving = () => isOpen(cluster.value?.operation) || Boolean(cluster.value?.status.settling);

  function start() {
    void read();
    const mine = (event: Event) => event.data.project === project && event.data.cluster === name;
    const ends = [
      listen({ events: (some) => some.some(mine) && (soonHistory(), void read()), reset: () => void read() }),
      every(MOVING_MS, () => isMoving() && void read()),
      every(CALM_MS, () => void read()),
      goesOn({ state, problem }, read),
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
