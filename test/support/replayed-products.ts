import { createHash, randomBytes } from 'node:crypto';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import type { ProductClient, ProductPage } from './product-page.ts';
import type { RunningPortal } from './portal.ts';
import { formOf, isRedirect, locationOf, type Visitor } from './visitor.ts';

/** The settings of a product, and what it does in addition to OpenID Connect. */
interface Settings {
  /** The endpoints. Default: those in the metadata. */
  readonly endpoints?: Endpoints;
  readonly redirectUri: string;
  readonly scope: string;
  readonly pkce: boolean;
  readonly secretIn: 'header' | 'body';
  /** Parameters that it adds to each authorization request. */
  readonly asks?: Readonly<Record<string, string>>;
  /** Parameters that it adds to each token request. */
  readonly sends?: Readonly<Record<string, string>>;
  readonly mode?: 'form_post' | 'query';
  /** Whether the product pushes its requests if the metadata offers pushed requests. */
  readonly pushes?: boolean;
  /** Whether the product trusts claims over TLS without checking the signature. */
  readonly trustsTls?: boolean;
}

interface Endpoints {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly userinfo_endpoint: string;
  readonly jwks_uri?: string;
  readonly pushed_authorization_request_endpoint?: string;
}

/** A product that the tests cannot install, and how it reads the settings on its page. */
export interface ReplayedProduct {
  readonly name: string;
  /** The name of its page in docs/connecting. */
  readonly page: string;
  /** The sources of these facts. */
  readonly sources: readonly string[];
  settings(page: ProductPage, portal: RunningPortal, client: ProductClient): Settings;
}

const quoted = (text: string, name: string): string =>
  new RegExp(String.raw`${name}(?:: | = )['"]([^'"]*)['"]`).exec(text)?.[1] ?? '';

const nextcloudClaims = { email: null, name: null, quota: null, groups: null };

export const REPLAYED_PRODUCTS: readonly ReplayedProduct[] = [
  {
    name: 'Grafana',
    page: 'grafana',
    sources: [
      'https://grafana.com/docs/grafana/latest/setup-grafana/configure-access/configure-authentication/generic-oauth/',
      'https://github.com/grafana/grafana/blob/main/pkg/login/social/connectors/generic_oauth.go',
    ],
    settings(page, portal, client) {
      const lines = page.code('ini', portal, client).matchAll(/^(\w+) = (.+)$/gm);
      const given = Object.fromEntries(
        [...lines].map(([, name = '', value = '']) => [name, value]),
      );
      return {
        endpoints: {
          authorization_endpoint: given['auth_url'] ?? '',
          token_endpoint: given['token_url'] ?? '',
          userinfo_endpoint: given['api_url'] ?? '',
        },
        redirectUri: `${given['root_url']}/login/generic_oauth`,
        scope: given['scopes'] ?? '',
        pkce: given['use_pkce'] === 'true',
        secretIn: 'header',
        asks: { access_type: 'online' },
        trustsTls: true,
      };
    },
  },
  {
    name: 'GitLab',
    page: 'gitlab',
    sources: [
      'https://docs.gitlab.com/administration/auth/oidc/',
      'https://github.com/omniauth/omniauth_openid_connect/blob/master/lib/omniauth/strategies/openid_connect.rb',
    ],
    settings(page, portal, client) {
      const code = page.code('ruby', portal, client);
      const scopes = /scope: \[([^\]]+)\]/.exec(code)?.[1] ?? '';
      const scope = scopes.replaceAll(/[',]/g, '');
      return {
        redirectUri: quoted(code, 'redirect_uri'),
        scope,
        pkce: code.includes('pkce: true'),
        secretIn: quoted(code, 'client_auth_method') === 'basic' ? 'header' : 'body',
        sends: { scope },
      };
    },
  },
  {
    name: 'Nextcloud',
    page: 'nextcloud',
    sources: [
      'https://github.com/nextcloud/user_oidc/blob/main/lib/Controller/LoginController.php',
      'https://github.com/nextcloud/user_oidc/blob/main/README.md',
    ],
    settings: (page, portal, client) => ({
      redirectUri: `${client.origin}/apps/user_oidc/code`,
      scope: page.field('Scope', portal, client),
      pkce: true,
      secretIn: 'body',
      asks: { claims: JSON.stringify({ id_token: nextcloudClaims, userinfo: nextcloudClaims }) },
    }),
  },
  {
    name: 'ASP.NET Core',
    page: 'aspnet',
    sources: [
      'https://learn.microsoft.com/aspnet/core/security/authentication/configure-oidc-web-authentication',
      'https://github.com/dotnet/aspnetcore/blob/main/src/Security/Authentication/OpenIdConnect/src/OpenIdConnectHandler.cs',
    ],
    settings(page, portal, client) {
      const code = page.code('csharp', portal, client);
      const added = [...code.matchAll(/Scope\.Add\("(\w+)"\)/g)].map(([, scope = '']) => scope);
      return {
        redirectUri: `${client.origin}${quoted(code, 'CallbackPath')}`,
        scope: ['openid', 'profile', ...added].join(' '),
        pkce: true,
        secretIn: 'body',
        mode: 'form_post',
        pushes: true,
        asks: { 'x-client-SKU': 'ID_NET9_0', 'x-client-ver': '8.0.1.0' },
      };
    },
  },
];

/** A sign-in to a product, from the first redirect to the claims about the person. */
export class ProductSignIn {
  readonly #settings: Settings;
  readonly #client: ProductClient;
  readonly #portal: RunningPortal;
  readonly #verifier = randomBytes(48).toString('base64url');
  readonly #state = randomBytes(16).toString('hex');
  readonly #nonce = randomBytes(16).toString('hex');

  constructor(settings: Settings, client: ProductClient, portal: RunningPortal) {
    this.#settings = settings;
    this.#client = client;
    this.#portal = portal;
  }

  /** Lets the person allow the product's request. Returns what the product's callback receives. */
  async answer(browser: Visitor): Promise<URLSearchParams> {
    const page = await browser.visit((await this.#url()).href);
    const answered = isRedirect(page) ? page : await browser.submit(page, { decision: 'allow' });
    if (isRedirect(answered)) return this.#atCallback(locationOf(answered));
    const { action, fields } = formOf(await answered.text());
    return this.#atCallback(new URL(`?${new URLSearchParams(fields).toString()}`, action));
  }

  /** Returns the claims about the person that the product gets at the end. */
  async claims(answer: URLSearchParams): Promise<Readonly<Record<string, unknown>>> {
    const endpoints = await this.#endpoints();
    const { id: client_id, secret: client_secret } = this.#client;
    const { pkce, redirectUri, secretIn, sends, trustsTls = false } = this.#settings;
    const credentials = Buffer.from(`${client_id}:${client_secret}`).toString('base64');
    const response = await fetch(endpoints.token_endpoint, {
      method: 'POST',
      headers: secretIn === 'header' ? { authorization: `Basic ${credentials}` } : {},
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: answer.get('code') ?? '',
        redirect_uri: redirectUri,
        ...(pkce ? { code_verifier: this.#verifier } : {}),
        ...(secretIn === 'body' ? { client_id, client_secret } : {}),
        ...sends,
      }),
    });
    if (!response.ok) throw new Error(await response.text());
    const tokens = (await response.json()) as { id_token: string; access_token: string };
    const idToken = trustsTls ? decodeJwt(tokens.id_token) : await this.#verified(tokens.id_token);
    const userInfo = await fetch(endpoints.userinfo_endpoint, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    return { ...idToken, ...((await userInfo.json()) as object) };
  }

  async #url(): Promise<URL> {
    const { pkce, redirectUri, scope, asks, mode, pushes = false } = this.#settings;
    const endpoints = await this.#endpoints();
    const url = new URL(endpoints.authorization_endpoint);
    const challenge = createHash('sha256').update(this.#verifier).digest('base64url');
    const parameters = new URLSearchParams({
      response_type: 'code',
      client_id: this.#client.id,
      redirect_uri: redirectUri,
      scope,
      state: this.#state,
      nonce: this.#nonce,
      ...(pkce ? { code_challenge: challenge, code_challenge_method: 'S256' } : {}),
      ...(mode === undefined ? {} : { response_mode: mode }),
      ...asks,
    });
    const { pushed_authorization_request_endpoint: pushing } = endpoints;
    if (!pushes || pushing === undefined) url.search = parameters.toString();
    else url.search = (await this.#push(pushing, parameters)).toString();
    return url;
  }

  async #push(endpoint: string, parameters: URLSearchParams): Promise<URLSearchParams> {
    parameters.set('client_secret', this.#client.secret);
    const response = await fetch(endpoint, { method: 'POST', body: parameters });
    if (response.status !== 201) throw new Error(await response.text());
    const { request_uri } = (await response.json()) as { readonly request_uri: string };
    return new URLSearchParams({ client_id: this.#client.id, request_uri });
  }

  async #endpoints(): Promise<Endpoints> {
    if (this.#settings.endpoints !== undefined) return this.#settings.endpoints;
    const found = await fetch(`${this.#portal.url}/.well-known/openid-configuration`);
    return (await found.json()) as Endpoints;
  }

  async #verified(idToken: string): Promise<object> {
    const { jwks_uri: keys = '' } = await this.#endpoints();
    const { payload } = await jwtVerify(idToken, createRemoteJWKSet(new URL(keys)), {
      issuer: this.#portal.server.issuer,
      audience: this.#client.id,
    });
    if (payload['nonce'] !== this.#nonce) throw new Error('The nonce is another one');
    return payload;
  }

  #atCallback(url: URL): URLSearchParams {
    if (`${url.origin}${url.pathname}` !== this.#settings.redirectUri)
      throw new Error(`The answer went to ${url.href}`);
    if (url.searchParams.get('state') !== this.#state) throw new Error('The state is another one');
    return url.searchParams;
  }
}
