import { render } from "preact";

import { App } from "./app";
import { startFleet } from "./fleet/store";
import { startLife } from "./live/life";
import { startUpstream } from "./live/upstream";
import { startRouter } from "./router";
import { restore } from "./session";
import { takeReturn } from "./sign_on/flow";
import { startExactTimes } from "./ui/exact_times";
import { startTheme } from "./ui/theme";

const goOn = takeReturn();
startTheme();
startRouter();
startExactTimes();
startLife();
startFleet();
startUpstream();
restore();
goOn?.();

const root = document.getElementById("app");
if (root) render(<App />, root);
