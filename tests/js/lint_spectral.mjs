// Lints the OpenAPI document named on the command line with all of Spectral's rules for OpenAPI but for the license, which is the owner's to choose, and for the mail address of a contact:
// whoever runs a server is not known here. One line for each finding. Exit 1 on any.
import { readFileSync } from "node:fs";
import spectral from "@stoplight/spectral-core";
import parsers from "@stoplight/spectral-parsers";
import rulesets from "@stoplight/spectral-rulesets";

const { Document, Spectral } = spectral;
const linter = new Spectral();
linter.setRuleset({ extends: [[rulesets.oas, "all"]], rules: { "info-license": "off", "license-url": "off", "contact-properties": "off" } });
const findings = await linter.run(new Document(readFileSync(process.argv[2], "utf8"), parsers.Yaml, process.argv[2]));
for (const { severity, code, message, path } of findings)
  console.log(`${["error", "warning", "info", "hint"][severity]} ${code} #/${path.join("/")}: ${message}`);
process.exitCode = findings.length ? 1 : 0;
