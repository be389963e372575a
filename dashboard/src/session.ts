// The session: the identity of the user, from the login to the logout.
import { signal } from "@preact/signals";

import { api, ask, isPassing, whenRefused } from "./api";
import type { Route } from "./router";
import { renewalFault, stopRenewing } from "./sign_on/renew";
import { texts } from "./texts";
import { keepToken, keptToken, token } from "./token";
import type { Problem, Role, Whoami } from "./types";

/**
 * `issuer`: the name of the issuer whose token is being checked. `restored`: the token is from before a reload. `away`: the server
 * could not answer, and is asked again.
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
export function refuse(problem: Problem) {
  const reason = problem.detail ?? problem.title;
  const now = session.peek();
  if (now.kind === "in") end(`${texts.login.refused(reason)} ${renewalFault() ?? ""}`.trim());
  else end(now.kind === "checking" && now.issuer ? texts.signOn.refused(now.issuer, reason) : texts.login.wrong(reason));
}

type Origin = { restored?: boolean; issuer?: string };

/**
 * Accepts a token when the server has confirmed it. After a reload of the page, and with a token that an issuer has just made, the request is
 * repeated until the server can answer: nobody could enter that token again.
 */
export async function logIn(given: string, { restored = false, issuer }: Origin = {}) {
  const checking = { kind: "checking", restored, ...(issuer ? { issuer } : {}) } as const;
  keepToken(given);
  session.value = checking;
  for (;;) {
    const result = await ask(api.GET("/v1/whoami"));
    if (token() !== given) return;
    if (result.ok) return void (session.value = { kind: "in", who: result.value });
    if (!isPassing(result.problem) || !(restored || issuer)) {
      const reason = result.problem?.detail ?? texts.login.away;
      return end(issuer ? texts.signOn.refused(issuer, reason) : reason);
    }
    session.value = { ...checking, away: true };
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    if (token() !== given) return;
  }
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
