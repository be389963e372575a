// Single sign-on: authorization code with PKCE. The browser leaves this page for the issuer and loads it anew afterwards. Meanwhile the
// data of the login is in the sessionStorage of the tab; it is removed when it is used.
import { signal } from "@preact/signals";

import { api, ask, base } from "../api";
import { fail, logIn, session } from "../session";
import { texts } from "../texts";
import { token } from "../token";
import { authorizationUrl, call, canBeCalled, challengeOf, discoveryUrl, hasNonce, nameOf, randomText, readDiscovery, readIssued, reasonOf,
  type Endpoints, type Issuer } from "./issuer";
import { keepRenewing } from "./renew";

const KEY = "shootd.login";
/** Longer than a login takes, and short enough for the lifetime of a `state`. */
const PATIENCE_MS = 60 * 60_000;
/** A navigation that takes longer has been stopped, or can go on without this page. */
const LEAVING_MS = 20_000;
const TEXT_MAX = 2_000;

const REDIRECT = `${base}/`;

/** A login that waits for the answer of the issuer. */
type Pending = { issuer: string; name: string; clientId: string; token: string; namesIssuer: boolean; state: string; nonce: string; verifier: string;
  fragment: string; begun: number };

/** The answer of the issuer in the address. */
type Return = { state: string | null; code: string | null; issuer: string | null; error: { error: string; error_description: string | null } | null };

// ---- issuers that the server offers ----

export type Offer = Issuer & { name: string };

export const offers = signal<Offer[]>([]);

/** Whether the browser has the cryptography for PKCE: it has it over https, and on pages of this machine. */
export const isPossible = () => window.isSecureContext && Boolean(window.crypto?.subtle);

export async function readOffers() {
  const result = await ask(api.GET("/v1/auth"));
  if (!result.ok) return;
  const found = result.value.issuers.flatMap(({ issuer: url, client_id: clientId, scopes }) => (clientId && canBeCalled(url) ? [{ url, clientId, scopes }] : []));
  offers.value = found.map((one) => ({ ...one, name: nameOf(one.url, found.map(({ url }) => url)) }));
}

// ---- to the issuer ----

function keepPending(pending: Pending): boolean {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(pending));
    return true;
  } catch {
    return false;
  }
}

/** Returns the login that waits, once. */
function takePending(): Pending | null {
  try {
    const text = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    return text ? (JSON.parse(text) as Pending) : null;
  } catch {
    return null;
  }
}

/** A document of the issuer, or the reason why there is none. */
async function documentOf(name: string, url: string, form?: Record<string, string>): Promise<{ document: unknown } | string> {
  const answer = await call(url, form);
  if (typeof answer === "string") return texts.signOn.notReached[answer](name);
  return answer.status === 200 ? answer : texts.signOn.failed(name, reasonOf(answer.document) ?? texts.signOn.status(answer.status));
}

async function discover({ url, name }: Offer): Promise<Endpoints | string> {
  const answer = await documentOf(name, discoveryUrl(url));
  if (typeof answer === "string") return answer;
  const found = readDiscovery(answer.document, url);
  return typeof found === "string" ? texts.signOn.discovery[found](name) : found;
}

/** Goes to the issuer. A fault before that is shown on this page. */
export async function begin(offer: Offer) {
  if (session.peek().kind !== "out") return;
  session.value = { kind: "checking" };
  const found = await discover(offer);
  if (typeof found === "string") return fail(found);
  const pending: Pending = { issuer: offer.url, name: offer.name, clientId: offer.clientId, token: found.token, namesIssuer: found.namesIssuer, state: randomText(),
    nonce: randomText(), verifier: randomText(), fragment: location.hash, begun: Date.now() };
  if (!keepPending(pending)) return fail(texts.signOn.noStorage);
  const address = authorizationUrl(found.authorization, { response_type: "code", client_id: offer.clientId, redirect_uri: REDIRECT, scope: offer.scopes.join(" "),
    state: pending.state, nonce: pending.nonce, code_challenge: await challengeOf(pending.verifier), code_challenge_method: "S256" });
  // A user who returns by the back button may get this page from the cache of the browser, and one who stops the navigation never left it.
  const leaving = session.peek();
  const stay = () => session.peek() === leaving && fail(null);
  addEventListener("pageshow", (event) => event.persisted && stay(), { once: true });
  setTimeout(stay, LEAVING_MS);
  location.assign(address);
}

// ---- back from the issuer ----

const part = (query: URLSearchParams, name: string) => query.get(name)?.slice(0, TEXT_MAX) ?? null;

export function readReturn(search: string): Return | null {
  const query = new URLSearchParams(search);
  const error = part(query, "error"), code = query.get("code");
  if (code === null && error === null) return null;
  return { state: part(query, "state"), code, issuer: part(query, "iss"), error: error === null ? null : { error, error_description: part(query, "error_description") } };
}

async function exchange(of: Pending, code: string) {
  const form = { grant_type: "authorization_code", code, redirect_uri: REDIRECT, client_id: of.clientId, code_verifier: of.verifier };
  const answer = await documentOf(of.name, of.token, form);
  const now = Date.now();
  if (typeof answer === "string") return fail(answer);
  const issued = readIssued(answer.document);
  if (!issued) return fail(texts.signOn.noToken(of.name));
  if (issued.idToken && !hasNonce(issued.idToken, of.nonce)) return fail(texts.signOn.foreign);
  await logIn(issued.access, { issuer: of.name });
  if (session.peek().kind === "in" && token() === issued.access) keepRenewing({ name: of.name, endpoint: of.token, clientId: of.clientId }, issued, now);
}

/**
 * Runs before all else on a page: removes an answer of the issuer from the address, before other code can read, store or send it. Returns a
 * function that continues the login, or null when there is no answer. An answer that this tab did not request ends no session, and its
 * texts are not shown.
 */
export function takeReturn(): (() => void) | null {
  const back = readReturn(location.search);
  if (!back) return null;
  const pending = takePending();
  history.replaceState(null, "", REDIRECT + (pending?.fragment ?? ""));
  const isOurs = pending !== null && back.state === pending.state && Date.now() - pending.begun < PATIENCE_MS &&
    (back.issuer === null ? !pending.namesIssuer : back.issuer === pending.issuer);
  if (!isOurs) return () => session.peek().kind === "out" && fail(texts.signOn.foreign);
  const { error, code } = back;
  if (error?.error === "access_denied") return () => fail(texts.signOn.denied(pending.name, error.error_description));
  if (error || !code) return () => fail(texts.signOn.failed(pending.name, reasonOf(error) ?? ""));
  return () => {
    session.value = { kind: "checking" };
    void exchange(pending, code);
  };
}
