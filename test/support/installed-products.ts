import { spawn, type ChildProcess } from 'node:child_process';
import { once as event } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { programOf, type ExtraName } from './extras.ts';
import { authjsApplication, djangoApplication, oauth2Proxy, once } from './mcp/toolchains.ts';
import { formOf, isRedirect, locationOf, type Visitor } from './visitor.ts';

/** The place where a product runs, and the application behind it. */
interface Place {
  readonly port: number;
  /** A folder for its files. */
  readonly folder: string;
  /** The address of an application that returns the headers of the request as JSON. */
  readonly behind: string;
}

/** A product that the tests install, and how they use its page. */
export interface InstalledProduct {
  readonly name: string;
  /** The name of its page in docs/connecting. */
  readonly page: string;
  /** The language of the code block with its settings. */
  readonly language: string;
  /** The page's setting for PKCE, and the same setting with PKCE turned off. */
  readonly pkce: readonly [setting: string, off: string];
  /** The page's setting for scopes, and the same setting with the additional scope `groups`. */
  readonly scopes: readonly [setting: string, wider: string];
  /** The setting that makes the product request `form_post`, if it can. */
  readonly formPost?: string;
  /**
   * The address that the person opens, and the address at which the product shows who the person
   * is.
   */
  readonly opens: string;
  readonly tells: string;
  /** The product's names for the claims on the page. */
  readonly names: Readonly<Partial<Record<'sub' | 'email' | 'name', string>>>;
  install(): Promise<readonly string[]>;
  /** Writes the product's files. Resolves to the arguments of its program. */
  configure(settings: string, place: Place): Promise<readonly string[]>;
}

export const INSTALLED_PRODUCTS: readonly InstalledProduct[] = [
  {
    name: 'oauth2-proxy',
    page: 'oauth2-proxy',
    language: 'toml',
    pkce: ['code_challenge_method = "S256"', ''],
    scopes: ['openid profile email', 'openid profile email groups'],
    opens: '/oauth2/start?rd=/',
    tells: '/',
    names: { sub: 'x-forwarded-user', email: 'x-forwarded-email' },
    install: once(oauth2Proxy),
    async configure(settings, { port, folder, behind }) {
      const file = path.join(folder, 'oauth2-proxy.cfg');
      const own = [`http_address = "127.0.0.1:${port}"`, 'cookie_secure = false'];
      const text = settings.replace('http://127.0.0.1:3000', behind);
      await writeFile(file, [text, ...own].join('\n'));
      return [`--config=${file}`];
    },
  },
  {
    name: 'mod_auth_openidc',
    page: 'mod-auth-openidc',
    language: 'apache',
    pkce: ['OIDCPKCEMethod S256', ''],
    scopes: ['openid profile email', 'openid profile email groups'],
    formPost: 'OIDCResponseMode form_post',
    opens: '/',
    tells: '/',
    names: { sub: 'oidc_claim_sub', email: 'oidc_claim_email', name: 'oidc_claim_name' },
    install: () => Promise.resolve([programOf('apache' satisfies ExtraName)]),
    async configure(settings, { port, folder, behind }) {
      const modules =
        'mpm_event authn_core authz_core authz_user proxy proxy_http headers auth_openidc';
      const load = modules
        .split(' ')
        .map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`);
      const account = process.getuid?.() === 0 ? ['User www-data', 'Group www-data'] : [];
      const file = path.join(folder, 'apache.conf');
      const lines = [
        `ServerRoot ${folder}`,
        `PidFile ${folder}/apache.pid`,
        `DefaultRuntimeDir ${folder}`,
        'ServerName localhost',
        `Listen 127.0.0.1:${port}`,
        'ErrorLog "|$/bin/cat >&2"',
        ...load,
        ...account,
        // Browsers send this header when they open a page. Without it, a request by fetch() looks
        // like a script, and gets a 401.
        'RequestHeader set Sec-Fetch-Mode navigate early',
        settings,
        `ProxyPass / ${behind}/`,
      ];
      await writeFile(file, `${lines.join('\n')}\n`);
      return ['-D', 'FOREGROUND', '-f', file];
    },
  },
  {
    name: 'mozilla-django-oidc',
    page: 'mozilla-django-oidc',
    language: 'python',
    pkce: ['OIDC_USE_PKCE = True', 'OIDC_USE_PKCE = False'],
    scopes: ['openid profile email', 'openid profile email groups'],
    opens: '/',
    tells: '/profile',
    names: { email: 'email' },
    install: once(djangoApplication),
    async configure(settings, { port, folder }) {
      const file = path.join(folder, 'settings.py');
      await writeFile(file, settings);
      return [file, String(port)];
    },
  },
  {
    name: 'Auth.js',
    page: 'authjs',
    language: 'js',
    pkce: ["'pkce', ", ''],
    scopes: [
      "type: 'oidc',",
      "type: 'oidc', authorization: { params: { scope: 'openid profile email groups' } },",
    ],
    opens: '/auth/signin',
    tells: '/auth/session',
    names: { email: 'email', name: 'name' },
    install: once(authjsApplication),
    async configure(settings, { port, folder }) {
      const file = path.join(folder, 'providers.mjs');
      await writeFile(file, settings);
      return [file, String(port)];
    },
  },
];

/** A running product. */
export class RunningProduct {
  readonly origin: string;
  readonly #product: InstalledProduct;
  readonly #child: ChildProcess;
  #said = '';

  private constructor(product: InstalledProduct, command: readonly string[], place: Place) {
    this.#product = product;
    this.origin = `http://localhost:${place.port}`;
    const [program = '', ...args] = command;
    this.#child = spawn(program, args, { cwd: place.folder, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
  }

  /** Starts the product with these settings, and waits until it listens. */
  static async start(
    product: InstalledProduct,
    settings: string,
    place: Place,
  ): Promise<RunningProduct> {
    const program = await product.install();
    const args = await product.configure(settings, place);
    const running = new RunningProduct(product, [...program, ...args], place);
    await running.#listens(place.port);
    return running;
  }

  /**
   * Opens the product in one browser. Allows its request in the other browser, where the person is
   * signed in. Resolves to the response of the product's callback.
   */
  async signIn(browser: Visitor, atServer: Visitor): Promise<Response> {
    const opened = await browser.visit(this.#product.opens);
    const sent = isRedirect(opened) ? opened : await browser.submit(opened);
    const page = await atServer.visit(locationOf(sent).href);
    const answer = isRedirect(page) ? page : await atServer.submit(page, { decision: 'allow' });
    if (isRedirect(answer)) return browser.visit(locationOf(answer).href);
    const { action, fields } = formOf(await answer.text());
    const posted = await browser.post(action, fields);
    return isRedirect(posted) ? browser.visit(locationOf(posted).href) : posted;
  }

  /**
   * Returns what the product knows about the person in this browser, by the names of the claims.
   */
  async knows(browser: Visitor): Promise<Readonly<Record<string, unknown>>> {
    const { tells, names } = this.#product;
    const response = await browser.get(tells);
    const answer = (await response.json().catch(() => null)) as Record<string, unknown> | null;
    const told = (answer?.['user'] ?? answer ?? {}) as Record<string, unknown>;
    return Object.fromEntries(
      Object.entries(names).flatMap(([claim, name]) =>
        told[name] === undefined ? [] : [[claim, told[name]]],
      ),
    );
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const closed = event(this.#child, 'close');
    this.#child.kill('SIGTERM');
    await closed;
  }

  async #listens(port: number): Promise<void> {
    let hasEnded = false;
    this.#child.once('close', () => (hasEnded = true));
    for (;;) {
      if (hasEnded) throw new Error(`${this.#product.name} ended:\n${this.#said}`);
      const socket = connect(port, '127.0.0.1');
      const isThere = await new Promise<boolean>((resolve) => {
        socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      });
      socket.destroy();
      if (isThere) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
