import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ConfigMap } from 'portico';
import { porticoHere, ROOT } from './console.ts';
import { blocksOf, type CodeBlock } from './documents.ts';
import type { RunningPortal } from './portal.ts';
import { commandsOf } from './shell.ts';

/** The address of the server on all of these pages. */
const SERVER = 'https://app.example.com';

/** The client that the page's command prints, for the settings of the product. */
export interface ProductClient {
  readonly id: string;
  readonly secret: string;
  /** The origin of the product. */
  readonly origin: string;
}

/**
 * A page of docs/connecting about a product. Provides the page's commands and settings for a
 * running product.
 */
export class ProductPage {
  readonly name: string;
  readonly text: string;
  readonly #blocks: readonly CodeBlock[];

  constructor(name: string) {
    this.name = name;
    const page = path.join('docs', 'connecting', `${name}.md`);
    this.text = readFileSync(path.join(ROOT, page), 'utf8');
    this.#blocks = blocksOf(page, this.text);
  }

  /** Returns the settings of `oauth_server` on the page. */
  async serverSettings(): Promise<ConfigMap> {
    const block = this.#blocks.find(({ info }) => info[0] === 'ts');
    if (block === undefined) return {};
    const module = `data:text/javascript,${encodeURIComponent(block.code)}`;
    const { oauth_server: settings } = (await import(module)) as { oauth_server: ConfigMap };
    return settings;
  }

  /** Runs the page's command for a product at this origin. */
  async register(portal: RunningPortal, origin: string): Promise<ProductClient> {
    const command = this.#command.map((word) => word.replace(this.#origin, origin));
    const { env } = portal;
    const cwd = path.join(ROOT, 'examples', 'portal');
    const { stdout, stderr } = await porticoHere([...command, '--json'], { cwd, env });
    if (stdout === '') throw new Error(stderr);
    const { client_id: id, client_secret: secret } = JSON.parse(stdout) as {
      readonly client_id: string;
      readonly client_secret: string;
    };
    return { id, secret, origin };
  }

  /** Returns the code block in this language, filled in as a person would do it. */
  code(language: string, portal: RunningPortal, client: ProductClient): string {
    const block = this.#blocks.find(({ info }) => info[0] === language);
    if (block === undefined) throw new Error(`${this.name} has no block in ${language}`);
    return this.#filled(block.code, portal, client);
  }

  /** Returns a field of the page's table, filled in as a person would do it. */
  field(name: string, portal: RunningPortal, client: ProductClient): string {
    const row = new RegExp(String.raw`^\| ${name} +\| \`([^\`]+)\` +\|$`, 'm').exec(this.text);
    if (row === null) throw new Error(`${this.name} has no field ${name}`);
    return this.#filled(row[1] ?? '', portal, client);
  }

  /** Returns the words of the command `oauth:client:create` with its arguments. */
  get #command(): readonly string[] {
    const created = this.#blocks
      .filter(({ info }) => info[0] === 'sh')
      .flatMap(({ code }) => commandsOf(code))
      .find(({ words }) => words.includes('oauth:client:create'));
    if (created === undefined) throw new Error(`${this.name} creates no client`);
    return created.words.slice(2);
  }

  get #origin(): string {
    const redirect = this.#command.find((word) => word.startsWith('--redirect='));
    return new URL(redirect?.slice('--redirect='.length) ?? '').origin;
  }

  #filled(text: string, portal: RunningPortal, client: ProductClient): string {
    return text
      .replaceAll(SERVER, portal.url)
      .replaceAll(this.#origin, client.origin)
      .replaceAll('<client_id>', client.id)
      .replaceAll('<client_secret>', client.secret)
      .replaceAll('<32 random characters>', 'thirty-two-random-characters-are')
      .replaceAll('https://localhost', 'http://localhost');
  }
}
