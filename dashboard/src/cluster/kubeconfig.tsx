// Each click requests a kubeconfig, and the page does not store it. It goes into a file or the clipboard, or is shown for a minute.
import { useEffect, useRef, useState } from "preact/hooks";

import { api, ask } from "../api";
import { announce } from "../live/announce";
import { mayAs } from "../session";
import { texts } from "../texts";
import type { Problem } from "../types";
import { ProblemNotice } from "../ui/problem";

const SHOWN_MS = 60_000;

type Form = "file" | "exec";

async function fetchText(project: string, name: string, form: Form) {
  const params = { path: { project, cluster: name }, query: form === "exec" ? { format: "exec" as const } : {} };
  return ask(api.GET("/v1/projects/{project}/clusters/{cluster}/kubeconfig", { params, headers: { Accept: "application/yaml" }, parseAs: "text", cache: "no-store" }));
}

function saveAs(name: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** When the page may not use the clipboard (plain http): shows the text, selected, for a minute. */
function Shown({ text, hide }: { text: string; hide: () => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.select();
    const timer = setTimeout(hide, SHOWN_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div>
      <label>
        <span>{texts.kubeconfig.shown}</span>
        <textarea ref={field} readOnly rows={6} class="mono" value={text} />
      </label>
      <button type="button" onClick={hide}>
        {texts.kubeconfig.hide}
      </button>
    </div>
  );
}

export function KubeconfigPanel({ project, name }: { project: string; name: string }) {
  const [note, setNote] = useState<string | null>(null);
  const [problem, setProblem] = useState<{ problem: Problem | null } | null>(null);
  const [shown, setShown] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  async function get(form: Form, use: (text: string) => Promise<string | null> | string | null) {
    if (busy) return;
    setBusy(true);
    setNote(texts.kubeconfig.asking);
    setProblem(null);
    setShown(null);
    const result = await fetchText(project, name, form);
    setBusy(false);
    const said = result.ok ? await use(result.value as unknown as string) : null;
    setNote(said);
    if (!result.ok) setProblem({ problem: result.problem });
    if (result.ok) announce(said ?? texts.kubeconfig.shown);
  }

  const download = (form: Form) => get(form, (text) => {
    saveAs(`${name}.${form === "exec" ? "exec." : ""}kubeconfig.yaml`, text);
    return texts.kubeconfig.saved;
  });

  const copy = () => get("file", async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return texts.kubeconfig.copied;
    } catch {
      setShown(text);
      return null;
    }
  });

  return (
    <section class="panel" aria-labelledby="kubeconfig-heading">
      <h2 id="kubeconfig-heading" tabIndex={-1}>{texts.kubeconfig.heading}</h2>
      {mayAs("kubeconfig") ? (
        <>
          <p class="quiet">{texts.kubeconfig.intro}</p>
          <p class="buttons">
            <button type="button" aria-disabled={busy} onClick={() => void download("file")}>
              {texts.kubeconfig.download}
            </button>
            <button type="button" aria-disabled={busy} onClick={() => void copy()}>
              {texts.kubeconfig.copy}
            </button>
            <button type="button" aria-disabled={busy} onClick={() => void download("exec")}>
              {texts.kubeconfig.exec}
            </button>
          </p>
          {note && <p class="quiet">{note}</p>}
          {problem && <ProblemNotice problem={problem.problem} />}
          {shown !== null && <Shown text={shown} hide={() => setShown(null)} />}
        </>
      ) : (
        <p>{texts.kubeconfig.notAllowed}</p>
      )}
    </section>
  );
}
