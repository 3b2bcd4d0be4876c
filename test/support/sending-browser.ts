/** The cookies of a browser. The browser uses a server in the same process. */
export interface WithCookies {
  readonly jar: Map<string, string>;
}

/**
 * Returns functions that send requests as a browser does: with its cookies, and storing the cookies
 * in the response. A request with a form is a POST, and without a form a GET.
 */
export function sendingBrowsers<Browser extends WithCookies>(
  publicUrl: string,
  handle: (request: Request, browser: Browser) => Promise<Response | null>,
) {
  return async (
    browser: Browser,
    at: string,
    form?: Readonly<Record<string, string>> | string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> => {
    const cookie = [...browser.jar].map((pair) => pair.join('=')).join('; ');
    const request = new Request(publicUrl + at, {
      headers: { Accept: 'text/html', Cookie: cookie, ...headers },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    const response = (await handle(request, browser)) ?? Response.error();
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/Max-Age=0/.test(set)) browser.jar.delete(name);
      else browser.jar.set(name, value);
    }
    return response;
  };
}
