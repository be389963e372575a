// Verifies one delivery, {secrets, public_keys, headers, body} on standard input: with each secret by both reference libraries,
// which know v1, and with each public key by Node's own Ed25519, since neither knows v1a. Exit 0 when it is genuine by all of them.
import { createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { Webhook as Standard } from "standardwebhooks";
import { Webhook as Svix } from "svix";

const { secrets, public_keys, headers, body } = JSON.parse(readFileSync(0, "utf8"));

for (const secret of secrets)
  for (const Library of [Standard, Svix])
    new Library(secret).verify(body, headers);

const signed = Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`);
for (const text of public_keys) {
  const x = Buffer.from(text.replace(/^whpk_/, ""), "base64").toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const genuine = headers["webhook-signature"].split(" ").some((one) => {
    const [version, signature] = one.split(",");
    return version === "v1a" && verify(null, signed, key, Buffer.from(signature, "base64"));
  });
  if (!genuine) throw new Error("No matching v1a signature found");
}
console.log(JSON.parse(body).type);
