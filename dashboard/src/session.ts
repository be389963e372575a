// Who looks, from the login to its end.
import { signal } from "@preact/signals";

import { api, ask, whenRefused } from "./api";
import type { Route } from "./router";
import { texts } from "./texts";
import { keepToken, keptToken, token } from "./token";
import type { Problem, Role, Whoami } from "./types";

export type Session =
  | { kind: "out"; reason: string | null }
  | { kind: "checking" }
  | { kind: "in"; who: Whoami };

const RETRY_MS = 2_000;

export const session = signal<Session>({ kind: "out", reason: null });

const ended: (() => void)[] = [];

/** What has to be forgotten when a session ends registers here. */
export function onEnd(forget: () => void) {
  ended.push(forget);
}

function end(reason: string | null) {
  keepToken(null);
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
  keepToken(given);
  session.value = { kind: "checking" };
  const result = await ask(api.GET("/v1/whoami"));
  if (token() !== given) return;
  if (result.ok) session.value = { kind: "in", who: result.value };
  else if (!result.problem && restored) setTimeout(() => token() === given && void logIn(given, true), RETRY_MS);
  else end(result.problem ? result.problem.detail : texts.login.away);
}

/** The session of this tab before a reload. */
export function restore() {
  whenRefused(refuse);
  const kept = keptToken();
  if (kept) void logIn(kept, true);
}

const roles: Role[] = ["viewer", "kubeconfig", "operator", "admin"];

export function mayAs(role: Role): boolean {
  const now = session.value;
  return now.kind === "in" && roles.indexOf(now.who.role) >= roles.indexOf(role);
}

/** What role a page needs beyond viewer. */
const pageRoles: Partial<Record<Route["page"], Role>> = { webhooks: "operator", webhook: "operator", audit: "admin" };

export const roleOf = (page: Route["page"]): Role => pageRoles[page] ?? "viewer";
