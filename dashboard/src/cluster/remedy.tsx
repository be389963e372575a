import { announce } from "../live/announce";
import { texts } from "../texts";
import type { Remedy } from "../types";
import { Foreign } from "../ui/foreign";

/** The command that carries out the remedy, to copy until the page can do it itself. */
export function RemedyCommand({ remedy }: { remedy: Remedy }) {
  const command = remedy?.command;
  if (!command) return null;
  const copy = () => navigator.clipboard.writeText(command).then(() => announce(texts.issues.copied));
  return (
    <p class="command">
      <Foreign mono text={command} />{" "}
      {isSecureContext && (
        <button type="button" onClick={() => void copy()}>
          {texts.issues.copy}
        </button>
      )}
    </p>
  );
}
