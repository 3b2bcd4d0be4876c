import { headerValues, type Answer, type Connection, type Sent } from './connection.ts';
import { PERSON, REDIRECT_URI } from './target.ts';

/** The maximum number of pages and redirects in one authorization. */
const MOST_STEPS = 15;

type Decision = 'allow' | 'deny';

/**
 * A person's browser. Supports only what a person needs to sign in and to allow an application:
 * cookies, redirects and forms.
 */
export class Browser {
  readonly #connection: Connection;
  readonly #cookies = new Map<string, { readonly value: string; readonly path: string }>();

  readonly #password: string;

  constructor(connection: Connection, password: string = PERSON.password) {
    this.#connection = connection;
    this.#password = password;
  }

  /**
   * Opens the path, signs in if asked, and allows or denies the request. Returns the URL of the
   * redirect to the application.
   */
  async authorize(path: string, decision: Decision = 'allow'): Promise<URL> {
    let sent: Sent = { method: 'GET', path };
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const answer = await this.#request(sent);
      const location = headerValues(answer, 'location')[0];
      if (location !== undefined) {
        if (location.startsWith(REDIRECT_URI)) return new URL(location);
        const { pathname, search } = new URL(location, 'http://127.0.0.1');
        sent = { method: 'GET', path: pathname + search };
      } else {
        sent = filledForm(answer, sent.path, { password: this.#password, decision });
      }
    }
    throw new Error(`${path} led nowhere in ${MOST_STEPS} steps`);
  }

  /** Opens a page. Returns the first response, without following redirects. */
  open(path: string): Promise<Answer> {
    return this.#request({ method: 'GET', path });
  }

  async #request(sent: Sent): Promise<Answer> {
    const cookie = [...this.#cookies]
      .filter(([, kept]) => sent.path.startsWith(kept.path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
    const answer = await this.#connection.request({
      ...sent,
      headers: { ...sent.headers, ...(cookie === '' ? {} : { Cookie: cookie }) },
    });
    for (const line of headerValues(answer, 'set-cookie')) this.#keep(line);
    return answer;
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const path = /; *path=([^;]*)/i.exec(line)?.[1] ?? '/';
    if (value === '' || /max-age=0\b|expires=thu, 01 jan 1970/i.test(line))
      this.#cookies.delete(name);
    else this.#cookies.set(name, { value, path });
  }
}

/**
 * Fills in the page's form by the types of its fields. If there are several buttons, uses the
 * button for the decision.
 */
function filledForm(
  answer: Answer,
  at: string,
  { password, decision }: { readonly password: string; readonly decision: Decision },
): Sent {
  const [, attributes, content] = /<form\b([^>]*)>(.*?)<\/form>/is.exec(answer.body) ?? [];
  if (attributes === undefined || content === undefined) {
    throw new Error(
      `${at} was answered ${answer.status}, neither a redirect nor a form: ${answer.body.slice(0, 300)}`,
    );
  }
  const fields = new URLSearchParams();
  for (const [tag] of content.matchAll(/<(?:input|button)\b[^>]*>/gi)) {
    const name = attribute(tag, 'name');
    if (name === null || /\bdisabled\b/i.test(tag)) continue;
    const type = attribute(tag, 'type');
    const value = attribute(tag, 'value') ?? '';
    if (/^<button/i.test(tag)) {
      if (value === decision) fields.set(name, value);
    } else if (type === 'password') fields.set(name, password);
    else if (type === 'checkbox') fields.append(name, value);
    else if (type === 'email' || name === 'email') fields.set(name, PERSON.email);
    else fields.set(name, value);
  }
  return {
    method: 'POST',
    path: attribute(attributes, 'action') ?? at,
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Sec-Fetch-Site': 'same-origin',
    },
    body: String(fields),
  };
}

function attribute(tag: string, name: string): string | null {
  const value = new RegExp(`\\b${name}="([^"]*)"`, 'i').exec(tag)?.[1];
  return value?.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&') ?? null;
}
