// The session: the identity of the user, from the login to the logout.
import { signal } from "@preact/signals";

import { api, ask, whenRefused } from "./api";
import type { Route } from "./router";
import { renewalFault, stopRenewing } from "./sign_on/renew";
import { texts } from "./texts";
import { keepToken, keptToken, token } from "./token";
import type { Problem, Role, Whoami } from "./types";

/**
 * `issuer`: the name of the issuer whose token is being checked. `restored`: the token is from before a reload. `away`: the server did not
 * answer, and is asked again.
 */
export type Session =
  | { kind: "out"; reason: string | null }
  | { kind: "checking"; issuer?: string; restored?: boolean; away?: boolean }
  | { kind: "in"; who: Whoami };

const RETRY_MS = 2_000;

export const session = signal<Session>({ kind: "out", reason: null });

const ended: (() => void)[] = [];

/** Registers a function that discards data when the session ends. */
export function onEnd(forget: () => void) {
  ended.push(forget);
}

function end(reason: string | null) {
  stopRenewing();
  keepToken(null);
  for (const forget of ended) forget();
  session.value = { kind: "out", reason };
}

export const logOut = () => end(null);

/** A failed login: the page shows the reason. */
export const fail = (reason: string | null) => end(reason);

/** The server does not accept the token, or no longer accepts it. */
export function refuse(problem: Problem | null) {
  const reason = problem?.detail ?? problem?.title ?? "";
  const now = session.peek();
  if (now.kind === "in") end(`${texts.login.refused(reason)} ${renewalFault() ?? ""}`.trim());
  else end(now.kind === "checking" && now.issuer ? texts.signOn.refused(now.issuer, reason) : texts.login.wrong(reason));
}

type Origin = { restored?: boolean; issuer?: string; away?: boolean };

/** Accepts a token when the server has confirmed it. After a reload of the page, a request without an answer is repeated. */
export async function logIn(given: string, { restored = false, issuer, away = false }: Origin = {}) {
  keepToken(given);
  session.value = { kind: "checking", restored, away, ...(issuer ? { issuer } : {}) };
  const result = await ask(api.GET("/v1/whoami"));
  if (token() !== given) return;
  if (result.ok) {
    session.value = { kind: "in", who: result.value };
  } else if (!result.problem && restored) {
    session.value = { kind: "checking", restored, away: true };
    setTimeout(() => token() === given && void logIn(given, { restored, away: true }), RETRY_MS);
  } else if (!result.problem) end(texts.login.away);
  else end(issuer ? texts.signOn.refused(issuer, result.problem.detail) : result.problem.detail);
}

/** Restores the session that this tab had before a reload of the page. */
export function restore() {
  whenRefused(refuse);
  const kept = keptToken();
  if (kept) void logIn(kept, { restored: true });
}

const roles: Role[] = ["viewer", "kubeconfig", "operator", "admin"];

export function mayAs(role: Role): boolean {
  const now = session.value;
  return now.kind === "in" && roles.indexOf(now.who.role) >= roles.indexOf(role);
}

/** The lowest role that the page needs, if that is more than viewer. */
const pageRoles: Partial<Record<Route["page"], Role>> = { webhooks: "operator", webhook: "operator", audit: "admin" };

export const roleOf = (page: Route["page"]): Role => pageRoles[page] ?? "viewer";
