// Whether the page is being printed.
import { options } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** Renders what `change` changes before it returns: the browser does not wait for the usual later moment. */
function atOnce(change: () => void) {
  const usual = options.debounceRendering;
  options.debounceRendering = (render) => render();
  change();
  options.debounceRendering = usual;
}

/** True from the moment before the browser lays out the page for paper until it is done. */
export function usePrinting(): boolean {
  const [isOn, turn] = useState(false);
  useLayoutEffect(() => {
    const begin = () => atOnce(() => turn(true)), end = () => turn(false);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return isOn;
}
