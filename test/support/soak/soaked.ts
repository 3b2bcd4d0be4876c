// The process that soak.ts measures. It runs one mount, with and without streaming. Start it as
// `soaked.ts <mount>`, with an IPC channel.
import { generateKeyPairSync, sign } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { ExportResultCode } from '@opentelemetry/core';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { SimpleSpanProcessor, TracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { Route, AuthorizationServer, KeySigner } from 'portico';
import { ask, type ScopedToolInterface, type ToolInterface } from '@portico/mcp';
import { opentelemetry } from 'portico/telemetry';
import { PERMISSION } from '../administration.ts';
import { newKey } from '../assertions.ts';
import { basic, startAssistant } from '../assistant.ts';
import { mountNamed } from '../mounts/named.ts';
import { orders } from '../mounts/application.ts';
import { ADA, GRACE, PASSWORD, REDIRECT_URI, type TestClient } from '../portal.ts';
import { AskedReader } from '../telemetry.ts';
import { JWT_BEARER, link, startIdentityProvider } from '../identity-provider.ts';
import { KIT, type Asked, type Endpoint, type Soaked } from './soak.ts';

const [, , name = KIT] = process.argv;

const available: ToolInterface = {
  name: () => 'available',
  description: () => 'Says that it is there',
  inputSchema: () => ({ type: 'object' }),
  handle: () => ({ available: true }),
};

/**
 * A tool that waits for a turn of the event loop, listens for the end of its call, and reports
 * progress.
 */
const later: ToolInterface = {
  name: () => 'later',
  description: () => 'Says the same a little later',
  inputSchema: () => ({ type: 'object' }),
  async handle(_, { signal, progress }) {
    signal.addEventListener('abort', () => {});
    await progress(1, 2);
    await setImmediate();
    return { available: true };
  },
};

/** The number of running calls of the next tool. */
let waiting = 0;

/** A tool that returns only after its caller has disconnected. */
const never: ToolInterface = {
  name: () => 'never',
  description: () => 'Waits until the server no longer listens',
  inputSchema: () => ({ type: 'object' }),
  async handle(_, { signal, progress }) {
    await progress(1, 2);
    waiting += 1;
    if (!signal.aborted)
      await new Promise((left) => signal.addEventListener('abort', left, { once: true }));
    waiting -= 1;
    return { available: false };
  },
};

/** A tool that first asks a question, and then returns the answer. */
const asks: ToolInterface = {
  name: () => 'asks',
  description: () => 'Asks first',
  inputSchema: () => ({ type: 'object' }),
  handle: (_, { answer, state }) =>
    answer('sure') === null
      ? ask(
          {
            sure: {
              message: 'Sure?',
              schema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
            },
          },
          { kept: 'a'.repeat(1000) },
        )
      : { available: state !== null },
};

/** A tool that acts for the person with the linked account. */
const mine: ScopedToolInterface = {
  name: () => 'mine',
  description: () => 'Says that it is there for somebody',
  inputSchema: () => ({ type: 'object' }),
  handle: () => ({ available: true }),
  personal: true,
  scope: () => 'mcp:tools',
};

const TOOLS = [available, later, never, asks, mine];

const running: { close(): Promise<void> }[] = [];
const idp = await startIdentityProvider();
running.push(idp);

interface Started {
  readonly url: string;
  readonly resource: string;
  readonly server: AuthorizationServer;
}

const SCOPES = {
  'mcp:service': 'Use the tools that need no account',
  'orders:read': 'See your orders',
};

/** Starts the mount. Only the mode without streaming has metrics and spans. */
async function start(streaming: boolean): Promise<Started> {
  const measured = streaming ? {} : { telemetry };
  const config = {
    oauth_server: {
      scopes: SCOPES,
      registration: 'open',
      registration_secret_ttl: 3600,
      client_id_metadata_documents: true,
      challenge: true,
      refresh_retry_seconds: 60,
      private_key_jwt: true,
      pushed_authorization_requests: 'accept',
      dpop: 'accept',
      device_authorization: true,
      logout: true,
      back_channel_logout: name === KIT,
      admin_permission: PERMISSION,
      audit: { keep: true },
      health: true,
      ...(name === KIT ? idp.config.oauth_server : {}),
    },
    mcp: {
      transport: { streaming },
      protocol_versions: ['2026-07-28', '2025-11-25'],
      audit: true,
      calls_per_minute: 1_000_000,
      oauth: { challenge: true },
    },
  };
  const keySigners = [KEY_SIGNER];
  if (name === KIT) {
    const assistant = await startAssistant({
      config,
      tools: TOOLS,
      routes: [ORDERS],
      databaseServer: null,
      keySigners,
      ...measured,
    });
    running.push(assistant);
    const { accounts } = assistant;
    const ada = (await accounts.findByEmail(ADA))?.id ?? '';
    for (const permission of ['orders:read', PERMISSION]) await accounts.grant(ada, permission);
    await accounts.create({
      email: GRACE,
      name: 'Grace Hopper',
      password: PASSWORD,
      emailVerified: true,
    });
    return assistant;
  }
  const mount = await mountNamed(name);
  const mounted = await mount.start(config, { databaseServer: null, keySigners, ...measured });
  running.push(mounted);
  await mounted.permit(ADA, `orders:read ${PERMISSION}`);
  for (const tool of TOOLS) mounted.mcp.tools.register(tool);
  return { ...mounted, resource: mounted.mcp.resource };
}

/** The number of spans. The process counts spans and then drops them. */
let spans = 0;
const exporter: SpanExporter = {
  export(ended, done) {
    spans += ended.length;
    done({ code: ExportResultCode.SUCCESS });
  },
  shutdown: async () => {},
};
const reader = new AskedReader();
const telemetry = opentelemetry({
  meterProvider: new MeterProvider({ readers: [reader] }),
  tracerProvider: new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
});

async function collect(): Promise<number> {
  const { errors } = await reader.collect();
  if (errors.length > 0) throw new AggregateError(errors);
  return spans;
}

const PAIR = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** A key signer that responds later, like one that uses a hardware module. */
const KEY_SIGNER: KeySigner = {
  algorithm: 'RS256',
  kid: 'soak',
  publicJwk: PAIR.publicKey.export({ format: 'jwk' }),
  async sign(data) {
    await setImmediate();
    return sign('sha256', data, PAIR.privateKey);
  },
};

const ORDERS: Route = {
  name: 'orders',
  methods: ['GET'],
  path: '/api/orders',
  handler: () => Response.json(orders()),
};

async function register({ clients }: AuthorizationServer) {
  const { client, secret } = await clients.create({
    name: 'Soak',
    grants: ['client_credentials'],
    scopes: ['mcp:service', 'orders:read'],
  });
  return { id: client.id, secret: secret ?? '' };
}

async function registerSigner({ clients }: AuthorizationServer) {
  const key = newKey('ES256', 'soak');
  const { client } = await clients.create({
    name: 'Soak',
    redirectUris: [REDIRECT_URI],
    scopes: ['orders:read'],
    jwks: { keys: [key.jwk] },
  });
  return { id: client.id, key: key.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() };
}

async function registerDevice({ clients }: AuthorizationServer): Promise<string> {
  const { client } = await clients.create({
    name: 'Soak',
    public: true,
    grants: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
    scopes: ['orders:read'],
  });
  return client.id;
}

async function registerTold({ clients }: AuthorizationServer): Promise<Soaked['told']> {
  if (name !== KIT) return null;
  const uri = process.env['LOGOUT_URI'] ?? '';
  const { client, secret } = await clients.create({
    name: 'Soak',
    redirectUris: [REDIRECT_URI],
    scopes: ['openid'],
    metadata: { backchannel_logout_uri: [uri] },
  });
  return { id: client.id, secret: secret ?? '', uri };
}

async function registerAssistant(server: AuthorizationServer): Promise<Soaked['organization']> {
  if (name !== KIT) return null;
  await link({ server }, ADA);
  const { client, secret } = await server.clients.create({
    name: 'Soak',
    grants: [JWT_BEARER],
    scopes: ['orders:read'],
  });
  const key = idp.key.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  return { id: client.id, secret: secret ?? '', key, kid: idp.key.kid };
}

async function endpointOf(
  { server, url, resource }: Started,
  service?: TestClient,
): Promise<Endpoint> {
  const { id, secret } = service ?? (await register(server));
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: basic({ id, secret }) },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'mcp:service', resource }),
  });
  const { access_token: token } = (await response.json()) as { readonly access_token: string };
  return { resource, token };
}

/** Collects twice: objects with a finalizer are freed only after their finalizer has run. */
async function heapUsed(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('Run with --expose-gc');
  for (let turn = 0; turn < 4; turn += 1) {
    globalThis.gc();
    await setImmediate();
  }
  return process.memoryUsage().heapUsed;
}

/** How far the clock of this process is ahead, in milliseconds. */
let ahead = 0;
// Replace `Date.now` first, so that all code without a separate clock uses this one.
const { now } = Date;
Date.now = () => now() + ahead;

async function answer(asked: Asked): Promise<number> {
  if (asked === 'heap') return heapUsed();
  if (asked === 'collect') return collect();
  if ('advance' in asked) return (ahead += asked.advance * 1000);
  while (waiting !== asked.waiting) await setImmediate();
  return waiting;
}

process.on(
  'message',
  (asked: Asked) => void answer(asked).then((number) => process.send?.(number)),
);
process.on('disconnect', () => {
  void Promise.all(running.map((each) => each.close())).finally(() => process.exit());
});

async function startBoth(): Promise<Soaked> {
  const answering = await start(false);
  const { url, server } = answering;
  const service = await register(server);
  const { client } = await server.clients.create({
    name: 'Soak',
    redirectUris: [REDIRECT_URI],
    scopes: ['openid', 'orders:read'],
    public: true,
  });
  return {
    json: await endpointOf(answering, service),
    streaming: await endpointOf(await start(true)),
    url,
    service,
    native: client.id,
    signedBy: (await server.keys.active())?.kid ?? '',
    signer: await registerSigner(server),
    device: await registerDevice(server),
    told: await registerTold(server),
    organization: await registerAssistant(server),
  };
}

process.send?.(await startBoth());
