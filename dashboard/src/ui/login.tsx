import { useEffect, useRef, useState } from "preact/hooks";

import { logIn, session } from "../session";
import { texts } from "../texts";

export function LoginPage() {
  const now = session.value;
  const field = useRef<HTMLInputElement>(null);
  const [missing, setMissing] = useState(false);
  const reason = missing ? texts.login.missing : now.kind === "out" ? now.reason : null;
  useEffect(() => {
    document.title = texts.login.title;
    if (now.kind === "out") field.current?.focus();
  }, [now.kind]);

  function submit(event: SubmitEvent) {
    event.preventDefault();
    const token = field.current?.value.trim() ?? "";
    setMissing(!token);
    if (token) void logIn(token);
  }

  return (
    <main class="login">
      <form class="panel" onSubmit={submit} noValidate>
        <h1>{texts.login.heading}</h1>
        <p>{texts.login.intro}</p>
        {reason && (
          <p class="notice bad" role="alert" id="login-reason">
            {reason}
          </p>
        )}
        <label for="token">{texts.login.label}</label>
        <input ref={field} id="token" name="token" type="password" autocomplete="current-password" spellcheck={false} autocapitalize="off"
          readOnly={now.kind === "checking"} aria-invalid={Boolean(reason)} {...(reason ? { "aria-describedby": "login-reason" } : {})} />
        <p class="quiet">{texts.login.hint}</p>
        <button type="submit" class="primary" aria-disabled={now.kind === "checking"}>
          {now.kind === "checking" ? texts.login.checking : texts.login.submit}
        </button>
      </form>
    </main>
  );
}
