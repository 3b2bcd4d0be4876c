import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';

/** Returns the fields of a form in a request. */
export async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let body = '';
  request.setEncoding('utf8');
  for await (const chunk of request) body += String(chunk);
  return new URLSearchParams(body);
}

/** Sends a page that asks for the person's email address and password. */
export function sendLogin(response: ServerResponse, action: string, fields = ''): void {
  sendPage(
    response,
    `<h1>Sign in</h1>
<form method="post" action="${escaped(action)}">${fields}
<label>E-mail <input type="email" name="email" required></label>
<label>Password <input type="password" name="password" required></label>
<button>Sign in</button>
</form>`,
  );
}

/** Sends a page that asks whether the application may have these scopes. */
export function sendConsent(
  response: ServerResponse,
  action: string,
  client: string,
  scopes: readonly string[],
): void {
  sendPage(
    response,
    `<h1>${escaped(client)} asks for access</h1>
<ul>${scopes.map((scope) => `<li>${escaped(scope)}</li>`).join('')}</ul>
<form method="post" action="${escaped(action)}">
<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Deny</button>
</form>`,
  );
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function sendPage(response: ServerResponse, content: string): void {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Bench</title><body>${content}</body></html>`;
  response
    .writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': Buffer.byteLength(html),
      'Cache-Control': 'no-store',
    })
    .end(html);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers = {},
): void {
  const json = JSON.stringify(body);
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(json),
      ...headers,
    })
    .end(json);
}

export function logError(error: unknown): void {
  process.stderr.write(`${inspect(error)}\n`);
}
