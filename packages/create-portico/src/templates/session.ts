// The generated file with a session in a signed cookie. It is for applications without a known
// session library.

/** The content of the session file. Text between « and » is for TypeScript only. */
export const SESSION_FILE = `import { createHmac, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

// The session of a signed-in person, in a signed cookie. If your application has sessions, use
// them in signedIn and signOut of the host instead, and delete this file. Signing out removes the
// cookie. The server keeps no list of sessions, so a copy of the cookie works until it expires.
const LIFETIME = 8 * 60 * 60; // seconds

/** Returns the \`Set-Cookie\` header that signs a person in. Check the password first. */
export function beginSession(userId«: string»)«: string» {
  const expires = Math.floor(Date.now() / 1000) + LIFETIME;
  const value = \`\${Buffer.from(userId).toString('base64url')}.\${expires}\`;
  return \`\${cookie()}=\${value}.\${sign(value)}; Max-Age=\${LIFETIME}; \${attributes()}\`;
}

/** Returns the \`Set-Cookie\` header that signs a person out. */
export function endSession()«: string» {
  return \`\${cookie()}=; Max-Age=0; \${attributes()}\`;
}

/** Returns the id of the signed-in person, or null. \`cookies\` is the \`Cookie\` header. */
export function userIdOf(cookies«: string | null»)«: string | null» {
  const start = \`\${cookie()}=\`;
  const pair = (cookies ?? '').split('; ').find((each) => each.startsWith(start)) ?? '';
  const [id = '', expires = '', signature = ''] = pair.slice(start.length).split('.');
  const [own, given] = [Buffer.from(sign(\`\${id}.\${expires}\`)), Buffer.from(signature)];
  if (own.length !== given.length || !timingSafeEqual(own, given)) return null;
  return Number(expires) * 1000 > Date.now() ? Buffer.from(id, 'base64url').toString() : null;
}

function sign(value«: string»)«: string» {
  const secret = setting('SESSION_SECRET') ?? '';
  if (secret.length < 32) throw new Error('Set SESSION_SECRET to at least 32 random characters.');
  return createHmac('sha256', secret).update(\`portico session \${value}\`).digest('base64url');
}

const isHttps = () => setting('PUBLIC_URL')?.startsWith('https:') === true;

// Over https, only this host can set a cookie whose name begins with __Host-. Otherwise, a page on
// a sibling domain could sign people in to another account.
const cookie = () => (isHttps() ? '__Host-portico_session' : 'portico_session');

const attributes = () => \`Path=/; HttpOnly; SameSite=Lax\${isHttps() ? '; Secure' : ''}\`;

/** Reads the environment, or the file from which Portico reads it. */
function setting(name«: string»)«: string | undefined» {
  const file = ['.env.local', '.env'].find((each) => existsSync(each));
  return process.env[name] ?? (file && parseEnv(readFileSync(file, 'utf8'))[name]);
}
`;
