// The number of results is said once the filters stand still and their results are there. Changes that come by themselves are not.
import { useEffect, useRef } from "preact/hooks";

import { announce } from "../live/announce";

const STILL_MS = 600;

/** `asked`: another value for each question. `isThere`: whether there are filters, and their results are shown. */
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
