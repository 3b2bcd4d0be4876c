import type { AlgorithmForm } from '../../keys/algorithms.ts';

declare module '../../store/client.ts' {
  interface SigningAlgorithmNames {
    ES256: true;
    /** EdDSA signatures with the curve Ed25519. */
    EdDSA: true;
  }
}

/** ECDSA with P-256 (RFC 7518 sections 3.4 and 6.2). */
export const ES256: AlgorithmForm = {
  name: 'ES256',
  kind: 'P-256',
  type: { kty: 'EC', crv: 'P-256' },
  members: ['x', 'y'],
  hash: 'sha256',
  encodingProblem: (bytes) =>
    // A raw signature has 64 bytes. A DER signature starts with the tag 0x30 and has another
    // length.
    bytes.length !== 64 && bytes[0] === 0x30
      ? 'a DER signature; ES256 needs the two numbers one after the other, in 64 bytes (RFC ' +
        '7518 section 3.4)'
      : null,
};

/** EdDSA with Ed25519 (RFC 8037). Ed25519 uses SHA-512 (RFC 8032 section 5.1). */
export const ED25519: AlgorithmForm = {
  name: 'EdDSA',
  kind: 'Ed25519',
  type: { kty: 'OKP', crv: 'Ed25519' },
  members: ['x'],
  hash: 'sha512',
  hashesItself: true,
};
