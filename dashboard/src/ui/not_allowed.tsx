import { useEffect } from "preact/hooks";

import { session } from "../session";
import { texts } from "../texts";
import type { Role } from "../types";
import { visible } from "./foreign";

/** Shown for a page that the role of the token may not see; the user may have typed its address. */
export function NotAllowed({ heading, role }: { heading: string; role: Role }) {
  const now = session.value;
  useEffect(() => {
    document.title = texts.pageTitle(heading);
  }, [heading]);
  return (
    <section class="panel empty">
      <h1 tabIndex={-1}>{heading}</h1>
      <p>{texts.notAllowed(role, now.kind === "in" ? visible(now.who.role) : texts.none)}</p>
      <p>
        <a href="#/">{texts.unknownPage.back}</a>
      </p>
    </section>
  );
}
