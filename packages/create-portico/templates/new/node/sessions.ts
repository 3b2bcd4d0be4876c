import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const sessions = new Map<string, { userId?: string }>();

export function sessionOf({ headers }: IncomingMessage) {
  const [, id = ''] = /(?:^|; )sid=([^;]+)/.exec(headers.cookie ?? '') ?? [];
  return sessions.get(id);
}

export function beginSession(outgoing: ServerResponse, userId: string, isHttps: boolean) {
  const id = randomUUID();
  sessions.set(id, { userId });
  const secure = isHttps ? '; Secure' : '';
  outgoing.setHeader('Set-Cookie', `sid=${id}; HttpOnly; SameSite=Lax; Path=/${secure}`);
}
