import { createHash, randomBytes } from 'node:crypto';
import { ADA, signIn } from '../portal.ts';
import { createVisitor, isRedirect, locationOf, type Visitor } from '../visitor.ts';
import { CHALLENGING, type BareHost } from './bare-host.ts';
import type { HostProfile } from './host-profiles.ts';

/** The client that the host registered. */
interface HostClient {
  readonly id: string;
  readonly secret?: string;
  readonly method: 'none' | 'client_secret_basic' | 'client_secret_post';
}

/** The response of the registration endpoint. */
interface Registered {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly token_endpoint_auth_method: HostClient['method'];
}

interface Metadata {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly registration_endpoint: string;
  readonly scopes_supported: readonly string[];
  readonly issuer: string;
}

interface ResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly scopes_supported: readonly string[];
}

/** The tokens in a response of the token endpoint. */
export interface HostTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
}

/** A host that knows only the address of the tools. It follows its profile. */
export class ReplayedHost {
  readonly #profile: HostProfile;
  readonly #host: BareHost;
  readonly #ada: Visitor;
  #client: HostClient | null = null;
  #server: Metadata | null = null;
  #resource: ResourceMetadata | null = null;
  #challenge: string | null = null;

  constructor(profile: HostProfile, host: BareHost) {
    this.#profile = profile;
    this.#host = host;
    this.#ada = createVisitor(host.assistant.url);
  }

  /** The address that the host gets. */
  get resource(): string {
    return `${this.#host.assistant.url}${this.#profile.path ?? CHALLENGING}`;
  }

  /** Finds the server, becomes a client, and gets tokens. Ada gives her consent. */
  async connect(): Promise<HostTokens> {
    const first = await this.call('', 'my_account');
    this.#challenge = first.headers.get('www-authenticate');
    await this.#discover();
    this.#client ??= await this.#becomeClient();
    return this.authorize(this.#firstScopes());
  }

  /** Calls a tool. */
  call(accessToken: string, tool: string): Promise<Response> {
    return fetch(this.resource, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        ...(accessToken === '' ? {} : { authorization: `Bearer ${accessToken}` }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: tool, arguments: {} },
      }),
    });
  }

  /** Returns the scope in a challenge. */
  scopesOf(response: Response): string | null {
    return parameter(response.headers.get('www-authenticate'), 'scope');
  }

  /** Lets Ada allow these scopes, and exchanges the code for tokens. */
  async authorize(scope: string): Promise<HostTokens> {
    const { redirectUri } = this.#profile;
    const verifier = randomBytes(32).toString('base64url');
    const state = randomBytes(16).toString('base64url');
    const url = new URL(this.#metadata.authorization_endpoint);
    const query = {
      response_type: 'code',
      client_id: this.#known.id,
      redirect_uri: redirectUri,
      scope,
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: this.resource,
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const answer = await this.#allow(url);
    if (
      `${answer.origin === 'null' ? `${answer.protocol}//${answer.host}` : answer.origin}${answer.pathname}` !==
      redirectUri
    )
      throw new Error(`The answer went to ${answer.href}`);
    if (
      answer.searchParams.get('state') !== state ||
      answer.searchParams.get('iss') !== this.#metadata.issuer
    )
      throw new Error(`The answer is not of this request: ${answer.search}`);
    const response = await this.token({
      grant_type: 'authorization_code',
      code: answer.searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
      resource: this.resource,
    });
    if (!response.ok) throw new Error(`No token: ${response.status} ${await response.text()}`);
    return (await response.json()) as HostTokens;
  }

  /** Lets this many processes of the host refresh with the same token at the same time. */
  refreshAll(refreshToken: string, processes: number): Promise<readonly Response[]> {
    const each = () => this.token({ grant_type: 'refresh_token', refresh_token: refreshToken });
    return Promise.all(Array.from({ length: processes }, each));
  }

  /** Sends a request to the token endpoint as this client. */
  token(form: Readonly<Record<string, string>>): Promise<Response> {
    const { id, secret = '', method } = this.#known;
    const basic = { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
    const credentials = {
      none: { client_id: id },
      client_secret_basic: {},
      client_secret_post: { client_id: id, client_secret: secret },
    }[method];
    return fetch(this.#metadata.token_endpoint, {
      method: 'POST',
      headers: method === 'client_secret_basic' ? basic : {},
      body: new URLSearchParams({ ...form, ...credentials }),
    });
  }

  /** Lets Ada remove the access of all applications, on her page of applications. */
  async removeAccess(): Promise<void> {
    const applications = `${this.#host.assistant.url}/oauth/applications`;
    for (;;) {
      const page = await this.#ada.visit(applications);
      if (!(await page.clone().text()).includes('Remove access')) return;
      await this.#ada.submit(page);
    }
  }

  async #discover(): Promise<void> {
    const { resource } = this;
    const named = parameter(this.#challenge, 'resource_metadata');
    const { origin, pathname } = new URL(resource);
    const wellKnown = `${origin}/.well-known/oauth-protected-resource${pathname}`;
    this.#resource = await json<ResourceMetadata>(
      this.#profile.discovery === 'the challenge' ? (named ?? 'missing:') : wellKnown,
    );
    if (this.#resource.resource !== resource)
      throw new Error(`This is the metadata of ${this.#resource.resource}`);
    const issuer = new URL(this.#resource.authorization_servers[0] ?? '');
    this.#server = await json<Metadata>(
      `${issuer.origin}/.well-known/oauth-authorization-server${issuer.pathname === '/' ? '' : issuer.pathname}`,
    );
  }

  async #becomeClient(): Promise<HostClient> {
    const { name, client, redirectUri } = this.#profile;
    if (client.by === 'document')
      return { id: this.#host.document(name, client.redirectUris), method: 'none' };
    if (client.by === 'the operator') {
      const { client: created, secret } = await this.#host.assistant.server.clients.create({
        name,
        redirectUris: [redirectUri],
        scopes: ['mcp:tools', 'orders:read'],
      });
      return { id: created.id, secret: secret ?? '', method: client.secret };
    }
    const response = await fetch(this.#metadata.registration_endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(client.metadata),
    });
    if (response.status !== 201) throw new Error(`Not registered: ${response.status}`);
    const registered = (await response.json()) as Registered;
    const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = registered;
    if (client.needsSecret === true && secret === undefined)
      throw new Error('The host got no client secret, and gives up');
    return { id, method, ...(secret === undefined ? {} : { secret }) };
  }

  #firstScopes(): string {
    return {
      'the challenge': parameter(this.#challenge, 'scope') ?? '',
      'the resource': this.#resource?.scopes_supported.join(' ') ?? '',
      'the authorization server': this.#metadata.scopes_supported.join(' '),
    }[this.#profile.scopes];
  }

  async #allow(url: URL): Promise<URL> {
    const page = await this.#ada.visit(url.href);
    const signedIn = page.url.includes('/login') ? await signIn(this.#ada, page, ADA) : page;
    const consent = isRedirect(signedIn)
      ? await this.#ada.visit(locationOf(signedIn).href)
      : signedIn;
    return locationOf(await this.#ada.submit(consent, { decision: 'allow' }));
  }

  get #known(): HostClient {
    if (this.#client === null) throw new Error('The host is not a client yet');
    return this.#client;
  }

  get #metadata(): Metadata {
    if (this.#server === null) throw new Error('The host has not found the server yet');
    return this.#server;
  }
}

/** Returns a parameter of a challenge. */
function parameter(challenge: string | null, name: string): string | null {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(challenge ?? '')?.[1] ?? null;
}

async function json<Document>(url: string): Promise<Document> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return (await response.json()) as Document;
}
