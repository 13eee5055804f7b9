/** A company's identity provider (oidc-provider) as a process of its own: people sign in by form, or by the header `x-person`. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import Provider, { type JWKS } from 'oidc-provider';

const port = Number(process.argv[2]);
const [callback = '', ...more] = (process.argv[3] ?? '').split(',');
const { gatewayKey, backchannelLogoutUri }: { gatewayKey?: JWK; backchannelLogoutUri?: string } = JSON.parse(
  process.argv[4] ?? '{}',
);
const origin = `http://127.0.0.1:${port}`;

/** `ada@acme.example;groups=admins;unverified` describes a person. */
function claimsOf(person: string): Record<string, unknown> {
  const [email = '', ...traits] = person.split(';');
  const groups = traits
    .find((trait) => trait.startsWith('groups='))
    ?.slice(7)
    .split('+');
  return {
    sub: person,
    ...(!traits.includes('no-email') && { email, email_verified: !traits.includes('unverified') }),
    given_name: email.split('@')[0] ?? '',
    family_name: 'Acme',
    ...(groups && { groups }),
  };
}

const { privateKey } = await generateKeyPair('RS256', { extractable: true });
const key = { ...(await exportJWK(privateKey)), kid: crypto.randomUUID(), use: 'sig', alg: 'RS256' };

const provider = new Provider(origin, {
  jwks: { keys: [key] } as JWKS,
  clients: [
    {
      client_id: 'gateway',
      ...(gatewayKey
        ? { token_endpoint_auth_method: 'private_key_jwt' as const, jwks: { keys: [gatewayKey] } }
        : { client_secret: 'a-secret-of-the-gateway' }),
      redirect_uris: [callback, ...more],
      post_logout_redirect_uris: [callback, ...more].map((uri) => `${new URL(uri).origin}/`),
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(backchannelLogoutUri && {
        backchannel_logout_uri: backchannelLogoutUri,
        backchannel_logout_session_required: true,
      }),
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['given_name', 'family_name', 'groups'] },
  conformIdTokenClaims: false,
  features: {
    devInteractions: { enabled: false },
    rpInitiatedLogout: { enabled: true },
    backchannelLogout: { enabled: true },
  },
  pkce: { required: () => true },
  cookies: { keys: ['a-key-for-tests'] },
  findAccount: (_, id) => ({ accountId: id, claims: async () => ({ ...claimsOf(id), sub: id }) }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
});

async function bodyOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return new URLSearchParams(text);
}

async function interaction(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const details = await provider.interactionDetails(request, response);
  const named = request.headers['x-person'];
  const person =
    typeof named === 'string' ? named : request.method === 'POST' ? (await bodyOf(request)).get('person') : null;
  if (!person) {
    const form = `<form method="post"><label>Account<input name="person" value=""></label><button>Continue</button></form>`;
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>Acme</title><h1>Acme</h1>${form}`);
    return;
  }
  if (person === 'nobody') {
    await provider.interactionFinished(request, response, { error: 'access_denied', error_description: 'not today' });
    return;
  }
  const grant = new provider.Grant({ accountId: person, clientId: String(details.params.client_id) });
  grant.addOIDCScope('openid email profile offline_access');
  const grantId = await grant.save();
  const result = { login: { accountId: person }, consent: { grantId } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

/** Signs whatever a test asks for with the provider's own key. */
async function sign(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { header, claims } = JSON.parse((await bodyOf(request)).get('token') ?? '');
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header })
    .sign(privateKey);
  response.end(token);
}

const serve = provider.callback();
createServer((request, response) => {
  if (request.url === '/sign') return void sign(request, response);
  if (request.url?.startsWith('/interaction/')) void interaction(request, response);
  else serve(request, response);
}).listen(port, '127.0.0.1', () => process.stdout.write(`${JSON.stringify({ port })}\n`));
