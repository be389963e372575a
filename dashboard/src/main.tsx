import { render } from "preact";

import { App } from "./app";
import { startFleet } from "./fleet/store";
import { startLife } from "./live/life";
import { startUpstream } from "./live/upstream";
import { startWebhooks } from "./live/webhooks";
import { startVersion } from "./live/version";
import { startRouter } from "./router";
import { restore } from "./session";
import { takeReturn } from "./sign_on/flow";
import { startExactTimes } from "./ui/exact_times";
import { startFocus } from "./ui/focus";
import { startTheme } from "./ui/theme";

const goOn = takeReturn();
startTheme();
startRouter();
startExactTimes();
startLife();
startFleet();
startUpstream();
startWebhooks();
startVersion();
restore();
goOn?.();

const root = document.getElementById("app");
if (root) {
  startFocus(root);
  render(<App />, root);
}
