// An issuer of single sign-on: its documents and the addresses that they name. Its answers are not trusted: they are read up to a
// size and checked member by member.
export const VERIFIER_BYTES = 32;
const ANSWER_MAX_BYTES = 64 * 1024;
const CALL_MS = 15_000;
/** The browser reports a violation of the policy in a separate task, after it has refused the call. */
const VIOLATION_MS = 250;
const TEXT_MAX = 2_000;

/** An issuer from GET /v1/auth that has a client for programs. */
export type Issuer = { url: string; clientId: string; scopes: string[] };

export type Endpoints = { authorization: string; token: string; namesIssuer: boolean };

/** The tokens in an answer of the issuer; `expiresIn` in seconds, null when the answer has none. */
export type Issued = { access: string; refresh: string | null; idToken: string | null; expiresIn: number | null };

export type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (typeof value === "string" && value.length <= TEXT_MAX ? value : null);

// ---- addresses ----

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The address. Null when it is neither https nor plain http to this machine, because secrets could be read in transit. */
export function goodUrl(text: unknown): URL | null {
  if (typeof text !== "string" || text.length > TEXT_MAX || !/^[!-~]+$/.test(text)) return null;
  try {
    const url = new URL(text);
    const isSafe = url.protocol === "https:" || (url.protocol === "http:" && loopback.test(url.hostname));
    return isSafe && !url.username && !url.password && !text.includes("#") ? url : null;
  } catch {
    return null;
  }
}

/** Whether the page may connect to the issuer. The policy of the page cannot contain an IPv6 address. */
export const canBeCalled = (url: string) => goodUrl(url)?.hostname.startsWith("[") === false;

/** The host; with the path when another issuer has the same host. */
export function nameOf(url: string, others: string[]): string {
  const host = (one: string) => goodUrl(one)?.host ?? one;
  const isAlone = !others.some((other) => other !== url && host(other) === host(url));
  return isAlone ? host(url) : url.replace(/^[^/]*\/\//, "");
}

export const discoveryUrl = (issuer: string) => `${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;

export type DiscoveryFault = "form" | "issuer" | "endpoints" | "foreign" | "pkce";

/** The endpoints in a discovery document, or its fault. */
export function readDiscovery(document: unknown, issuer: string): Endpoints | DiscoveryFault {
  if (!isObject(document)) return "form";
  if (document.issuer !== issuer) return "issuer";
  const authorization = goodUrl(document.authorization_endpoint), token = goodUrl(document.token_endpoint);
  if (!authorization || !token) return "endpoints";
  if (token.origin !== new URL(issuer).origin) return "foreign";
  const methods = document.code_challenge_methods_supported;
  if (Array.isArray(methods) && !methods.includes("S256")) return "pkce";
  return { authorization: authorization.href, token: token.href, namesIssuer: document.authorization_response_iss_parameter_supported === true };
}

// ---- tokens ----

/** The tokens in an answer; null when no token can be sent in a header. */
export function readIssued(document: unknown): Issued | null {
  if (!isObject(document)) return null;
  const { access_token: access, refresh_token: refresh, id_token: idToken, token_type: type = "Bearer", expires_in: seconds } = document;
  if (typeof access !== "string" || !/^[A-Za-z0-9._~+/-]+=*$/.test(access) || typeof type !== "string" || type.toLowerCase() !== "bearer") return null;
  return {
    access,
    refresh: typeof refresh === "string" && refresh ? refresh : null,
    idToken: typeof idToken === "string" ? idToken : null,
    expiresIn: typeof seconds === "number" && Number.isFinite(seconds) && seconds > 0 ? seconds : null,
  };
}

/** The reason for which an issuer issued no token, in its own words; null when it gives none. */
export function reasonOf(document: unknown): string | null {
  if (!isObject(document)) return null;
  const error = textOf(document.error), more = textOf(document.error_description);
  return error && more ? `${error}: ${more}` : error;
}

/** Whether an ID token has this nonce. The token came directly from the issuer, so its signature need not be checked. */
export function hasNonce(idToken: string, nonce: string): boolean {
  try {
    const bytes = Uint8Array.from(atob((idToken.split(".")[1] ?? "").replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isObject(claims) && claims.nonce === nonce;
  } catch {
    return false;
  }
}

// ---- PKCE ----

export const base64url = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

export const randomText = () => base64url(crypto.getRandomValues(new Uint8Array(VERIFIER_BYTES)));

/** The challenge S256 of a verifier (RFC 7636). */
export const challengeOf = async (verifier: string, subtle: SubtleCrypto = crypto.subtle) =>
  base64url(new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(verifier))));

export function authorizationUrl(endpoint: string, members: Record<string, string>): string {
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(members)) url.searchParams.set(name, value);
  return url.href;
}

// ---- calls ----

/**
 * `away`: no answer. `unreadable`: there is an answer, but the browser does not let the page read it (CORS). `blocked`: the policy of this
 * page does not contain the address, for example when the page is older than the configuration of the server.
 */
export type Answer = { status: number; document: unknown } | "away" | "unreadable" | "blocked";

async function bounded(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "", bytes = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done || !value) return text + decoder.decode();
    bytes += value.length;
    if (bytes > ANSWER_MAX_BYTES) {
      await reader?.cancel();
      return "";
    }
    text += decoder.decode(value, { stream: true });
  }
}

const plain: RequestInit = { cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" };

/** Whether any server answers; the page cannot read the answer. The call follows redirects, because browsers allow no other mode here. */
async function isThere(url: string): Promise<boolean> {
  try {
    await fetch(url, { ...plain, mode: "no-cors", signal: AbortSignal.timeout(CALL_MS) });
    return true;
  } catch {
    return false;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // The answer is not JSON; its status is enough.
  }
}

/** Requests a document, or posts a form. The promise never rejects. Redirects are not followed. */
export async function call(url: string, form?: Record<string, string>): Promise<Answer> {
  const post = form ? { method: "POST", body: new URLSearchParams(form) } : {};
  let isBlocked = false;
  const see = () => (isBlocked = true);
  document.addEventListener("securitypolicyviolation", see);
  try {
    const response = await fetch(url, { ...plain, ...post, headers: { Accept: "application/json" }, redirect: "error", signal: AbortSignal.timeout(CALL_MS) });
    return { status: response.status, document: parsed(await bounded(response)) };
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError") return "away";
    if (await isThere(url)) return "unreadable";
    if (!isBlocked) await new Promise((later) => setTimeout(later, VIOLATION_MS));
    return isBlocked ? "blocked" : "away";
  } finally {
    document.removeEventListener("securitypolicyviolation", see);
  }
}
