import { KeyProofError } from '../../errors.ts';

declare module '../../errors.ts' {
  interface BearerErrorCodes {
    /** The proof is missing or not valid (RFC 9449 section 7.1). */
    readonly invalid_dpop_proof: true;
    /** The proof must contain a nonce that this server has issued (RFC 9449 section 9). */
    readonly use_dpop_nonce: true;
  }
}

/** The error codes that RFC 9449 sections 5 and 8 define. */
export type DpopErrorCode = 'invalid_dpop_proof' | 'use_dpop_nonce';

/** The error messages that the server's own endpoints send. */
const MESSAGES: Readonly<Record<DpopErrorCode, string>> = {
  invalid_dpop_proof: 'The DPoP proof is missing, invalid or used before.',
  use_dpop_nonce: 'The DPoP proof has to carry the nonce of this answer.',
};

/** The error messages that protected resources send. */
export const RESOURCE_MESSAGES: Readonly<Record<DpopErrorCode, string>> = {
  invalid_dpop_proof: 'The DPoP proof is missing, or not good for this request.',
  use_dpop_nonce: 'The DPoP proof needs the nonce of this response.',
};

/** Thrown if a DPoP proof (RFC 9449) is missing or invalid, or lacks a nonce from this server. */
export class DpopError extends KeyProofError {
  declare readonly code: DpopErrorCode;
  /** The nonce for the next proof. Null unless the nonce is missing or not accepted. */
  readonly nonce: string | null;

  constructor(code: DpopErrorCode, detail: string, nonce: string | null = null) {
    super(code, MESSAGES[code], detail, nonce === null ? {} : { 'DPoP-Nonce': nonce });
    this.nonce = nonce;
  }
}
