// Announces the number of results to screen readers when the user has stopped changing the filters, and their results are shown. Changes
// that the user has not caused are not announced.
import { useEffect, useRef } from "preact/hooks";

import { announce } from "../live/announce";

const STILL_MS = 600;

/** `asked`: a different value for each set of filters. `isThere`: whether there are filters, and their results are shown. */
export function useCountSpoken(asked: unknown, isThere: boolean, count: () => string) {
  const isSaid = useRef(false), latest = useRef(count);
  latest.current = count;
  useEffect(() => {
    isSaid.current = false;
  }, [asked]);
  useEffect(() => {
    if (!isThere || isSaid.current) return;
    const timer = setTimeout(() => {
      isSaid.current = true;
      announce(latest.current());
    }, STILL_MS);
    return () => clearTimeout(timer);
  }, [asked, isThere]);
}
