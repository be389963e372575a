import { useEffect, useRef, useState } from "preact/hooks";

import { logIn, session } from "../session";
import { begin, isPossible, offers, readOffers } from "../sign_on/flow";
import { texts } from "../texts";
import { brief, Foreign } from "./foreign";

/** A button for each issuer, or the reason why there is none. */
function SignOn() {
  const isOut = session.value.kind === "out";
  useEffect(() => {
    if (isOut) void readOffers();
  }, [isOut]);
  if (!offers.value.length) return null;
  if (!isPossible()) return <p class="quiet">{texts.signOn.notHere}</p>;
  return (
    <div class="sign-on" role="group" aria-label={texts.signOn.label}>
      {offers.value.map((offer) => (
        <button key={offer.url} type="button" aria-disabled={!isOut} onClick={() => void begin(offer)}>
          {texts.signOn.button(brief(offer.name))}
        </button>
      ))}
      <p class="quiet">{texts.signOn.or}</p>
    </div>
  );
}

export function LoginPage() {
  const now = session.value;
  const field = useRef<HTMLInputElement>(null);
  const [missing, setMissing] = useState(false);
  const reason = missing ? texts.login.missing : now.kind === "out" ? now.reason : null;
  useEffect(() => {
    document.title = texts.login.title;
    if (now.kind === "out") field.current?.focus();
    else setMissing(false);
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
            <Foreign text={reason} />
          </p>
        )}
        <SignOn />
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
