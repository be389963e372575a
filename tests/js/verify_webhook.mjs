// Verifies one delivery with the reference library: {secret, headers, body} on standard input; exit 0 when genuine.
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const { secret, headers, body } = JSON.parse(readFileSync(0, "utf8"));
const payload = new Webhook(secret).verify(body, headers);
console.log(payload.type);
