import { createHash } from 'node:crypto';
import { equalInConstantTime } from '../http/constant-time.ts';

const CODE_CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** Returns true for a well-formed S256 challenge: 32 bytes in base64url (RFC 7636 section 4.2). */
export function isCodeChallenge(value: string): boolean {
  return CODE_CHALLENGE.test(value);
}

/**
 * Returns true if the verifier matches the S256 challenge (RFC 7636 section 4.6). A malformed
 * verifier never matches.
 */
export function verifiesChallenge(verifier: string, challenge: string): boolean {
  if (!CODE_VERIFIER.test(verifier)) return false;
  return equalInConstantTime(createHash('sha256').update(verifier).digest('base64url'), challenge);
}
