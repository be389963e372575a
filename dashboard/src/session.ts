// Who looks. The token is kept in memory and in sessionStorage (a reload keeps it, a new tab does not), never in a cookie or a URL.
import { signal } from "@preact/signals";

import { api, ask } from "./api";
import { texts } from "./texts";
import type { Problem, Role, Whoami } from "./types";

const KEY = "shootd.token";
const RETRY_MS = 2_000;

export type Session =
  | { kind: "out"; reason: string | null }
  | { kind: "checking" }
  | { kind: "in"; who: Whoami };

export const session = signal<Session>({ kind: "out", reason: null });

let current: string | null = null;
const ended: (() => void)[] = [];

export const token = () => current;

/** What has to be forgotten when a session ends registers here. */
export function onEnd(forget: () => void) {
  ended.push(forget);
}

function keep(value: string | null) {
  current = value;
  try {
    if (value) sessionStorage.setItem(KEY, value);
    else sessionStorage.removeItem(KEY);
  } catch {
    // A browser may forbid storage: the token is in memory then.
  }
}

function end(reason: string | null) {
  keep(null);
  for (const forget of ended) forget();
  session.value = { kind: "out", reason };
}

export const logOut = () => end(null);

/** The server does not take the token (any more). */
export function refuse(problem: Problem | null) {
  const reason = problem?.detail ?? problem?.title ?? "";
  end(session.peek().kind === "in" ? texts.login.refused(reason) : texts.login.wrong(reason));
}

/** Takes a token once the server has said whose it is. One of before a reload waits for a server that is away. */
export async function logIn(given: string, restored = false) {
  keep(given);
  session.value = { kind: "checking" };
  const result = await ask(api.GET("/v1/whoami"));
  if (current !== given) return;
  if (result.ok) session.value = { kind: "in", who: result.value };
  else if (!result.problem && restored) setTimeout(() => current === given && void logIn(given, true), RETRY_MS);
  else end(result.problem ? result.problem.detail : texts.login.away);
}

/** The session of this tab before a reload. */
export function restore() {
  let kept: string | null = null;
  try {
    kept = sessionStorage.getItem(KEY);
  } catch {
    // As in keep().
  }
  if (kept) void logIn(kept, true);
}

const roles: Role[] = ["viewer", "kubeconfig", "operator", "admin"];

export function mayAs(role: Role): boolean {
  const now = session.value;
  return now.kind === "in" && roles.indexOf(now.who.role) >= roles.indexOf(role);
}
