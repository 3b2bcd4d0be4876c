/** A minimal browser. It stores cookies, fills in forms, and follows redirects only in `visit`. */
export interface Visitor {
  get(url: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Submits the form of a page, with its hidden fields and these values. */
  submit(page: Response, values?: Readonly<Record<string, string>>): Promise<Response>;
  post(url: string, form: Readonly<Record<string, string>>): Promise<Response>;
  /** Like `get`, but follows redirects within the origin. */
  visit(url: string): Promise<Response>;
  /** Returns all cookies as a `Cookie` header. Requests send only the cookies of their path. */
  cookies(): string;
  /** Stores the cookie of a `Set-Cookie` header that another request received. */
  accept(cookie: string): void;
}

export function createVisitor(origin: string): Visitor {
  const jar = new Map<string, Cookie>();

  async function send(url: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    const target = new URL(url, origin);
    const sent = header([...jar.values()].filter(({ path }) => isBelow(target.pathname, path)));
    if (sent !== '') headers.set('cookie', sent);
    // Send the header of a browser that opens a page. Otherwise a framework may respond to a form
    // with JSON.
    if (!headers.has('accept')) headers.set('accept', 'text/html,application/xhtml+xml,*/*;q=0.8');
    const response = await fetch(target, { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) remember(cookie);
    return response;
  }

  function remember(cookie: string): void {
    const [pair = '', ...attributes] = cookie.split(';').map((part) => part.trim());
    const separator = pair.indexOf('=');
    const [name, value] = [pair.slice(0, separator), pair.slice(separator + 1)];
    const expired = attributes.some((attribute) => /^max-age=0$/i.test(attribute)) || value === '';
    const path =
      attributes.find((attribute) => /^path=/i.test(attribute))?.slice('path='.length) ?? '/';
    const key = `${name} ${path}`;
    if (expired) jar.delete(key);
    else jar.set(key, { name, value, path });
  }

  const cookies = () => header([...jar.values()]);

  const visitor: Visitor = {
    cookies,
    accept: remember,
    get: (url, headers = {}) => send(url, { headers }),
    post: (url, form) => send(url, { method: 'POST', body: new URLSearchParams(form) }),
    async submit(page, values = {}) {
      const { action, fields } = formOf(await page.clone().text());
      const target = action === '' ? page.url : action;
      return send(new URL(target, page.url).href, {
        method: 'POST',
        // If a page sends no referrer, its forms do not send its origin.
        headers: {
          Origin:
            page.headers.get('referrer-policy') === 'no-referrer'
              ? 'null'
              : new URL(page.url).origin,
        },
        body: new URLSearchParams({ ...fields, ...values }),
      });
    },
    async visit(url) {
      let response = await visitor.get(url);
      for (let hops = 0; hops < 10 && isRedirect(response); hops += 1) {
        const next = new URL(response.headers.get('location') ?? '', response.url);
        if (next.origin !== new URL(origin).origin) return response;
        response = await visitor.get(next.href);
      }
      return response;
    },
  };
  return visitor;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

function header(cookies: readonly Cookie[]): string {
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
}

/** Implements RFC 6265 section 5.1.4. */
function isBelow(path: string, cookiePath: string): boolean {
  return (
    path === cookiePath || path.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`)
  );
}

export function isRedirect(response: Response): boolean {
  return response.status >= 300 && response.status < 400;
}

/** Returns the target of a redirect. */
export function locationOf(response: Response): URL {
  const location = response.headers.get('location');
  if (location === null) throw new Error(`Expected a redirect, got ${response.status}`);
  return new URL(location, response.url);
}

/** Returns the last form of a page, with its hidden fields. */
export function formOf(html: string): { action: string; fields: Record<string, string> } {
  const form = [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)].at(-1);
  if (form === undefined) throw new Error('The page has no form');
  const [, attributes = '', body = ''] = form;
  const fields: Record<string, string> = {};
  for (const [, input = ''] of body.matchAll(/<input\b([^>]*)>/gi)) {
    const name = attribute(input, 'name');
    if (name !== '' && attribute(input, 'type') === 'hidden')
      fields[name] = attribute(input, 'value');
  }
  return { action: attribute(attributes, 'action'), fields };
}

function attribute(tag: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`, 'i').exec(tag)?.[1] ?? '';
  const entities: Readonly<Record<string, string>> = {
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    '#39': "'",
  };
  return value.replace(/&(amp|lt|gt|quot|#39);/g, (_, entity: string) => entities[entity] ?? '');
}
