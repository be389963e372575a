// Renews a token of single sign-on before it expires, so that an open page continues. The refresh token is in memory only: after a reload
// of the tab the access token is used until it expires.
import { texts } from "../texts";
import { keepToken, token } from "../token";
import { call, readIssued, reasonOf, type Issued } from "./issuer";

const MARGIN_MS = 60_000;
/** Requests wait for a renewal only when the token expires very soon. */
const LAST_MS = 5_000;
const AGAIN_MS = 30_000;
const LOOK_MS = 1_000;

export type Grant = { name: string; endpoint: string; clientId: string };

type Login = Grant & { refresh: string; access: string; ends: number; due: number };

let login: Login | null = null;
let renewing: Promise<void> | null = null;
let timer = 0;
let fault: string | null = null;

/** Returns when to renew a token that was issued at `now`: a minute before its end, or after half of a short lifetime. */
export const dueAt = (now: number, seconds: number) => now + Math.max(seconds * 1000 - MARGIN_MS, seconds * 500);

/** The reason why the token could not be renewed, or null. */
export const renewalFault = () => fault;

/**
 * `now`: the time at which the tokens were issued. Without a refresh token or a lifetime nothing is renewed, and the session lasts until
 * the server refuses the token.
 */
export function keepRenewing(grant: Grant, issued: Issued, now: number) {
  stopRenewing();
  if (!issued.refresh || !issued.expiresIn) return;
  login = { ...grant, refresh: issued.refresh, access: issued.access, ends: now + issued.expiresIn * 1000, due: dueAt(now, issued.expiresIn) };
  timer = window.setInterval(() => login && Date.now() >= login.due && void renew(login), LOOK_MS);
}

export function stopRenewing() {
  clearInterval(timer);
  login = null;
  fault = null;
}

/** Stores the text for the user in `fault`; after a final refusal no other attempt is made. */
function fail(of: Login, reason: string, isFinal: boolean) {
  fault = texts.signOn.notRenewed(of.name, reason);
  of.due = isFinal ? Infinity : Date.now() + AGAIN_MS;
}

async function renewOnce(of: Login) {
  const answer = await call(of.endpoint, { grant_type: "refresh_token", refresh_token: of.refresh, client_id: of.clientId });
  if (login !== of || token() !== of.access) return;
  if (typeof answer === "string") return fail(of, texts.signOn.notReached[answer](of.name), false);
  const issued = answer.status === 200 ? readIssued(answer.document) : null;
  if (!issued) {
    // Only the issuer says why it refuses (RFC 6749, 5.2); a proxy that answers in its place does not.
    const reason = reasonOf(answer.document), isFinal = reason !== null && answer.status >= 400 && answer.status < 500 && answer.status !== 429;
    return fail(of, reason ?? texts.signOn.status(answer.status), isFinal);
  }
  keepToken(issued.access);
  keepRenewing(of, { ...issued, refresh: issued.refresh ?? of.refresh }, Date.now());
}

/** Only one renewal runs at a time, because a refresh token may be valid for one use only. */
function renew(of: Login): Promise<void> {
  renewing ??= renewOnce(of).finally(() => (renewing = null));
  return renewing;
}

/**
 * Resolves when the token may be used: at once, or after a renewal when the token is about to expire, for example after the machine has
 * slept.
 */
export async function fresh(): Promise<void> {
  const now = Date.now();
  if (login && now >= login.due && now >= login.ends - LAST_MS) await renew(login);
}
