// A real OpenID provider, for tests: node oidc_provider.mjs PORT AUDIENCE [REDIRECT_URI]. It knows the client "robot" with the secret "robot-secret", and
// "shootctl", a public one for the device flow, where a person logs in with any name; with a redirect URI also "page", a public one for a
// page of the browser. Access tokens are JWTs for AUDIENCE with the claim
// groups: ["platform"]. A line "rotate" on standard input gives it a new key, which it signs
// with from then on; the key before stays published until the next line. Each change is answered with the line "ready KID".
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { createPrivateKey, generateKeyPairSync, randomUUID } from "node:crypto";
import Provider from "oidc-provider";

const [port, audience, redirectUri] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const keys = [];
const page = {
  client_id: "page", redirect_uris: [redirectUri], response_types: ["code"], application_type: "native", token_endpoint_auth_method: "none",
  grant_types: ["authorization_code", "refresh_token"],
};

// Node 20 locks a key while it exports it. If it frees the job that made this key meanwhile, it waits forever for the same lock. A key that is
// read from a text belongs to no job.
function newKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048, privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" } });
  return { ...createPrivateKey(privateKey).export({ format: "jwk" }), use: "sig", alg: "RS256", kid: randomUUID() };
}

function newProvider() {
  return new Provider(issuer, {
    jwks: { keys: [...keys] },
    clients: [
      { client_id: "robot", client_secret: "robot-secret", redirect_uris: [], response_types: [], grant_types: ["client_credentials"], token_endpoint_auth_method: "client_secret_post" },
      {
        client_id: "shootctl", redirect_uris: [], response_types: [], application_type: "native", token_endpoint_auth_method: "none",
        grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
      },
      ...(redirectUri ? [page] : []),
    ],
    clientBasedCORS: (_, origin) => Boolean(redirectUri) && origin === new URL(redirectUri).origin,
    scopes: ["openid", "offline_access", "api"],
    features: {
      devInteractions: { enabled: true },
      deviceFlow: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => `urn:${audience}`,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ audience, scope: "api", accessTokenTTL: 600, accessTokenFormat: "jwt", jwt: { sign: { alg: "RS256" } } }),
      },
    },
    extraTokenClaims: () => ({ groups: ["platform"] }),
  });
}

let answer;
function rotate() {
  keys.unshift(newKey());
  keys.splice(2);
  answer = newProvider().callback();
  console.log(`ready ${keys[0].kid}`);
}

const server = createServer((request, response) => answer(request, response));
server.listen(Number(port), "127.0.0.1", rotate);
for await (const line of createInterface({ input: process.stdin })) if (line === "rotate") rotate();
process.exit(0);
