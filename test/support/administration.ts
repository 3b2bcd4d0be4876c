import { readFile } from 'node:fs/promises';
import { AUDIT, type AuditEvent } from 'portico';
import { ADA, startPortal, type PortalOptions, type RunningPortal } from './portal.ts';
import type { Visitor } from './visitor.ts';

/** The permission that an administrator of the tests needs. */
export const PERMISSION = 'portal:administer';
export const PAGES = '/oauth/admin';

/** The portal with the administrator's pages. Ada is the administrator. */
export interface Administered {
  readonly portal: RunningPortal;
  /** The audit events since the test last emptied this list. */
  readonly events: AuditEvent[];
  /** Returns the log lines about the request of this response. */
  linesOf(response: Response): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Returns the whole log. */
  log(): Promise<string>;
}

export async function startAdministered(options: PortalOptions = {}): Promise<Administered> {
  const { config = {} } = options;
  const own = typeof config === 'function' ? config('') : config;
  const oauthServer = {
    ...(own['oauth_server'] as object | undefined),
    admin_permission: PERMISSION,
  };
  const portal = await startPortal({ ...options, config: { ...own, oauth_server: oauthServer } });
  // Do not sync to the disk. Otherwise each row of the audit and of the sessions would wait for it.
  if (portal.application.database.dialect === 'sqlite')
    await portal.application.database.execute('PRAGMA synchronous = OFF');
  await portal.grant(ADA, PERMISSION);
  const events: AuditEvent[] = [];
  portal.application.events.on(AUDIT, (event: AuditEvent) => void events.push(event));
  const log = () => readFile(`${portal.env['STORAGE_DIR'] ?? ''}/app.log`, 'utf8').catch(() => '');
  return {
    portal,
    events,
    log,
    async linesOf(response) {
      const id = response.headers.get('x-request-id');
      const lines = (await log()).split('\n').filter((line) => line !== '');
      return lines
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
        .filter((line) => line['requestId'] === id);
    },
  };
}

/** A form of a page, with the values that a browser would send. */
export interface PageForm {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Returns the page's form for this action. If there are several, returns the one that contains the
 * text `about`.
 */
export async function formDoing(page: Response, does: string, about = ''): Promise<PageForm> {
  const html = await page.clone().text();
  for (const [, attributes = '', body = ''] of html.matchAll(
    /<form\b([^>]*)>([\s\S]*?)<\/form>/g,
  )) {
    if (!body.includes(`name="do" value="${does}"`) || !body.includes(about)) continue;
    const fields: Record<string, string> = {};
    for (const [input] of body.matchAll(/<input\b[^>]*>/g)) {
      const type = attributeOf(input, 'type');
      const isSent = (type !== 'radio' && type !== 'checkbox') || / checked/.test(input);
      if (isSent) fields[attributeOf(input, 'name')] = attributeOf(input, 'value');
    }
    for (const [area, text = ''] of body.matchAll(/<textarea\b[^>]*>([\s\S]*?)<\/textarea>/g)) {
      // The line break after the tag is not part of the text.
      fields[attributeOf(area, 'name')] = plain(text.replace(/^\n/, ''));
    }
    return { action: attributeOf(attributes, 'action'), fields };
  }
  throw new Error(
    `No form does ${does}: ${page.status} ${html.replaceAll(/<style[\s\S]*<\/style>/g, '')}`,
  );
}

/** Opens the page, and sends its form for this action. */
export async function doAt(
  visitor: Visitor,
  page: string,
  does: string,
  changes: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { action, fields } = await formDoing(await visitor.get(page), does);
  return visitor.post(action, { ...fields, ...changes });
}

/** Returns the text of a page, as a person reads it. */
export async function textOf(response: Response): Promise<string> {
  const html = (await response.clone().text()).replaceAll(/<style[\s\S]*?<\/style>/g, '');
  return plain(html.replaceAll(/<[^>]*>/g, ' ')).replaceAll(/\s+/g, ' ');
}

/** Returns the main part of a page, as a person reads it. */
export async function mainOf(page: Response): Promise<string> {
  return textIn(await mainIn(page));
}

/** Returns the rows of the first list of a page, as a person reads them. */
export async function rowsOf(page: Response): Promise<readonly string[]> {
  const [, list = ''] = (await mainIn(page)).split('<ul class="rows" role="list">');
  const rows =
    list
      .split('<h2>')[0]
      ?.split(/<li\b[^>]*>/)
      .slice(1) ?? [];
  return Promise.all(rows.map((row) => textIn(row.split('</li>')[0] ?? '')));
}

async function mainIn(page: Response): Promise<string> {
  return /<main[^>]*>([\s\S]*)<\/main>/.exec(await page.clone().text())?.[1] ?? '';
}

async function textIn(html: string): Promise<string> {
  return (await textOf(new Response(html))).trim();
}

/** Returns the badges, names and values that the page of an application shows. */
export async function factsOf(page: Response): Promise<Readonly<Record<string, unknown>>> {
  const html = await page.text();
  const found = [...html.matchAll(/<dt>([^<]*)<\/dt><dd>(.*?)<\/dd>/gs)];
  const badges = [...html.matchAll(/<span class="badge[^"]*">([^<]*)</g)].map(([, it]) => it);
  const values = await Promise.all(
    found.map(async ([, name = '', value = '']) => [name, await textIn(value)]),
  );
  return { badges, ...Object.fromEntries(values) };
}

function attributeOf(tag: string, name: string): string {
  return plain(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
}

function plain(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    '#39': "'",
  };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, entity: string) => entities[entity] ?? '');
}
