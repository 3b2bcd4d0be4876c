import { jsonText } from '../http/json.ts';
import type { SigningKey } from './signing-key.ts';

/**
 * Returns a signed JWT in compact form (RFC 7515 section 7.1). `typ` keeps clients from accepting
 * one type of token as another.
 */
export async function signJwt(key: SigningKey, typ: string, payload: object): Promise<string> {
  const header = { alg: key.algorithm, kid: key.kid, typ };
  const text = `${base64url(jsonText(header))}.${base64url(jsonText(payload))}`;
  const signature = await key.sign(Buffer.from(text));
  return `${text}.${Buffer.from(signature).toString('base64url')}`;
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
