// The published REST API. Types of paths, parameters and answers come from openapi.yaml.
import createClient from "openapi-fetch";

import type { paths } from "../types/openapi";
import { hearDate } from "./clock";
import { fresh } from "./sign_on/renew";
import { token } from "./token";
import type { Problem } from "./types";

/** The address of the API: beside this page, also behind a proxy that adds a prefix. */
export const base = new URL(".", document.baseURI).href.replace(/\/$/, "");

export const api = createClient<paths>({ baseUrl: base, querySerializer: { array: { style: "form", explode: false } } });
api.use({
  async onRequest({ request }) {
    await fresh();
    if (token()) request.headers.set("Authorization", `Bearer ${token()}`);
    return request;
  },
  onResponse: ({ response }) => hearDate(response),
});

/**
 * An answer, or the reason why there is none: a problem of the server, or `null` when no server answered. `isSame`: the answer is 304, so it
 * would be the same as the one whose entity tag was sent.
 */
export type Result<T> = { ok: true; value: T; response: Response } | { ok: false; problem: Problem | null; isSame: boolean };

type Answer<T> = { data?: T; error?: unknown; response: Response };

export function isProblem(body: unknown): body is Problem {
  return typeof body === "object" && body !== null && "code" in body && "title" in body;
}

/** Whether the same request may succeed later: there was no answer, the server starts or ends or has a fault, or it has too many requests. */
export const isPassing = (problem: Problem | null) => problem === null || problem.status >= 500 || problem.status === 429;

let refused: (problem: Problem) => void = () => {};

/** Sets the function that is called for each 401 of the server. A 401 that is no problem is one of a proxy, which knows nothing about the token. */
export function whenRefused(hear: (problem: Problem) => void) {
  refused = hear;
}

/** The promise never rejects. */
export async function ask<T>(call: Promise<Answer<T>>): Promise<Result<T>> {
  const asked = token();
  try {
    const { data, error, response } = await call;
    if (data !== undefined && response.ok) return { ok: true, value: data, response };
    const problem = isProblem(error) ? error : null;
    // The end of the session may have overtaken a request: the server refuses it, because it has no token any more.
    if (problem && response.status === 401 && asked !== null && asked === token()) refused(problem);
    return { ok: false, problem, isSame: response.status === 304 };
  } catch {
    return { ok: false, problem: null, isSame: false };
  }
}
