import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

import { texts } from "../texts";

/** The heading of a page, and its title in the browser; `children` stand beside the heading. */
export function PageHead({ heading, title = texts.pageTitle(heading), children }: { heading: string; title?: string; children?: ComponentChildren }) {
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <div class="heading">
      <h1 tabIndex={-1}>{heading}</h1>
      {children}
    </div>
  );
}
