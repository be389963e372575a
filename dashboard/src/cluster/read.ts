// The reads of the page of one cluster. They follow events of the cluster; they are frequent while an operation is open, else rare.
import { batch, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import { api, ask, isPassing, type Result } from "../api";
import { goesOn } from "../live/again";
import { gathered } from "../live/gather";
import { every, listen } from "../live/life";
import type { Cluster, Event, Issue, Operation, Problem } from "../types";
import { isOpen } from "../ui/operation";
import type { Part } from "./history";

const MOVING_MS = 2_000;
const CALM_MS = 15_000;
const ISSUES_MS = 60_000;
const HISTORY = 50;

type Page<T> = { items: T[]; next_cursor: string | null };
const partOf = <T,>({ items, next_cursor }: Page<T>): Part<T> => ({ items, isWhole: next_cursor === null });

export type State = "loading" | "there" | "gone" | "failed";

/** The parts of the page beside the cluster itself; each is a read of its own. */
type Beside = "operation" | "issues" | "history" | "usual";
const all: Beside[] = ["operation", "issues", "history", "usual"];

/** Signals of one cluster, which exist as long as its page. `null`: not read yet. */
function make(project: string, name: string) {
  const path = { project, cluster: name };
  const state = signal<State>("loading");
  const problem = signal<Problem | null>(null);
  const cluster = signal<Cluster | null>(null);
  /** Time of the observation. The header field is newer than the body, because the entity tag does not change with the time. */
  const observedAt = signal<string | null>(null);
  const operation = signal<Operation | null>(null);
  const issues = signal<Issue[] | null>(null);
  const events = signal<Part<Event> | null>(null);
  const operations = signal<Part<Operation> | null>(null);
  const usual = signal<number | null>(null);
  let tag = "";
  /** All parts after a change of the cluster, later those that could not be read. */
  const due = new Set<Beside>();
  let issuesAt = 0;

  async function readCluster() {
    const result = await ask(api.GET("/v1/projects/{project}/clusters/{cluster}", { params: { path } }));
    if (!result.ok) return failed(result);
    if (tag !== (tag = result.response.headers.get("ETag") ?? "")) all.forEach((part) => due.add(part));
    cluster.value = result.value;
    observedAt.value = result.response.headers.get("Observed-At");
    state.value = "there";
    problem.value = null;
    const own = result.value.operation;
    // Only answers about operations have the messages of steps.
    if (operation.value?.id !== own?.id) operation.value = own;
    if (isOpen(own)) due.add("operation");
    // Some issues begin with the time only, and do not change the entity tag.
    if (performance.now() - issuesAt > ISSUES_MS) due.add("issues");
    await Promise.all([...due].map(readBeside));
  }

  /** A part that cannot be read now stays due, so the next read of the cluster reads it again. */
  async function readBeside(part: Beside) {
    const results = await parts[part]();
    if (!results) return;
    if (results.every((result) => result.ok || !isPassing(result.problem))) due.delete(part);
    else due.add(part);
  }

  function failed(result: Result<unknown> & { ok: false }) {
    const code = result.problem?.code;
    problem.value = result.problem;
    if (code === "cluster_not_found" || code === "project_not_found") {
      state.value = "gone";
      void readBeside("history");
    } else if (!cluster.value) {
      state.value = "failed";
    }
  }

  /** Each returns the answers that it got; `null`: a later read has replaced it, and decides. */
  const parts: Record<Beside, () => Promise<Result<unknown>[] | null>> = { operation: readOperation, issues: readIssues, history: readHistory, usual: readUsual };

  async function readOperation() {
    const own = cluster.value?.operation ?? null;
    if (!own) return [];
    const result = await ask(api.GET("/v1/operations/{operation}", { params: { path: { operation: own.id } } }));
    operation.value = result.ok ? result.value : own;
    return [result];
  }

  async function readIssues() {
    const result = await ask(api.GET("/v1/projects/{project}/clusters/{cluster}/issues", { params: { path } }));
    if (result.ok) {
      issues.value = result.value.items;
      issuesAt = performance.now();
    }
    return [result];
  }

  let turn = 0;
  async function readHistory() {
    const mine = ++turn;
    const [some, others] = await Promise.all([
      ask(api.GET("/v1/projects/{project}/clusters/{cluster}/events", { params: { path, query: { order: "desc", limit: HISTORY } } })),
      ask(api.GET("/v1/projects/{project}/clusters/{cluster}/operations", { params: { path, query: { limit: HISTORY } } })),
    ]);
    if (mine !== turn) return null;
    batch(() => {
      if (some.ok) events.value = partOf(some.value as Page<Event>);
      if (others.ok) operations.value = partOf(others.value);
    });
    return [some, others];
  }

  /** The usual duration of an operation of the same type as the open one, in ms. */
  async function readUsual() {
    const own = cluster.value?.operation;
    if (!own || !isOpen(own)) {
      usual.value = null;
      return [];
    }
    const result = await ask(api.GET("/v1/projects/{project}/durations", { params: { path: { project } } }));
    if (result.ok) usual.value = result.value.items.find((item) => item.type === own.type)?.p50_ms ?? null;
    return [result];
  }

  let reading: Promise<void> | null = null;
  const read = () => (reading ??= readCluster().finally(() => (reading = null)));
  /** Not every event of a cluster changes its entity tag. */
  const soonHistory = gathered(() => readBeside("history"));
  const isMoving = () => isOpen(cluster.value?.operation) || Boolean(cluster.value?.status.settling);

  function start() {
    void read();
    const mine = (event: Event) => event.data.project === project && event.data.cluster === name;
    const ends = [
      listen({ events: (some) => some.some(mine) && (soonHistory(), void read()), reset: () => void read() }),
      every(MOVING_MS, () => isMoving() && void read()),
      every(CALM_MS, () => void read()),
      goesOn({ state, problem }, read, () => due.size > 0),
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
