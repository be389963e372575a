import { useEffect } from "preact/hooks";

import { announce } from "../live/announce";
import { outdated } from "../live/version";
import { texts } from "../texts";
import { SeverityIcon } from "./phase";

/** Offers to load the page again when the server has another version of it. */
export function Outdated() {
  const isShown = outdated.value;
  useEffect(() => {
    if (isShown) announce(texts.outdated.text);
  }, [isShown]);
  if (!isShown) return null;
  return (
    <aside class="banners" aria-label={texts.outdated.label}>
      <div class="notice">
        <SeverityIcon severity="info" />
        <div>
          <p>{texts.outdated.text}</p>
          <button type="button" onClick={() => location.reload()}>
            {texts.outdated.reload}
          </button>
        </div>
      </div>
    </aside>
  );
}
