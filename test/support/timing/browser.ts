import type { World } from './world.ts';

/** A browser without a network. It stores the cookies of all responses, whatever their path. */
export interface Browser {
  /** Returns the cookies as the value of a header. */
  cookies(): string;
  get(at: string): Promise<string>;
  post(at: string, fields: Readonly<Record<string, string>>): Promise<Response>;
}

export function openBrowser({ url, send }: World): Browser {
  const jar = new Map<string, string>();
  const cookies = () => Array.from(jar, ([name, value]) => `${name}=${value}`).join('; ');

  async function ask(at: string, init: RequestInit = {}): Promise<Response> {
    const headers = { Cookie: cookies(), 'Sec-Fetch-Site': 'same-origin', Origin: url };
    const response = await send(new Request(url + at, { ...init, headers }));
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    return response;
  }

  return {
    cookies,
    get: async (at) => (await ask(at)).text(),
    post: (at, fields) => ask(at, { method: 'POST', body: new URLSearchParams(fields) }),
  };
}

/** Returns the hidden fields of the first form on the page that contains `about`. */
export function fieldsOf(html: string, about = ''): Readonly<Record<string, string>> {
  const form = html.match(/<form\b[\s\S]*?<\/form>/g)?.find((each) => each.includes(about)) ?? '';
  const fields = form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return Object.fromEntries(Array.from(fields, ([, name = '', value = '']) => [name, value]));
}
