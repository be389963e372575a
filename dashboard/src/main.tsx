import { render } from "preact";

import { App } from "./app";
import { startFleet } from "./fleet/store";
import { startLife } from "./live/life";
import { startUpstream } from "./live/upstream";
import { startRouter } from "./router";
import { restore } from "./session";
import { startExactTimes } from "./ui/exact_times";
import { startTheme } from "./ui/theme";

startTheme();
startRouter();
startExactTimes();
startLife();
startFleet();
startUpstream();
restore();

const root = document.getElementById("app");
if (root) render(<App />, root);
