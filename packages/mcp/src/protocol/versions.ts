/** The versions of the protocol (MCP) that can be offered, the newest first. */
export const KNOWN_VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] as const;

/** A version of the protocol: a date, which compares as text. */
export type ProtocolVersion = (typeof KNOWN_VERSIONS)[number];

/** The version whose requests stand each for itself: without `initialize`, and with what they are about in `_meta`. */
export const STATELESS_VERSION = '2026-07-28';
/** The version of a request that names none; the one in which several messages may come in one body (MCP 2025-03-26, Batching). */
export const BATCHING_VERSION = '2025-03-26';

/** Which versions an endpoint speaks. */
export interface OfferedVersions {
  /** All of them, the newest first. */
  readonly all: readonly string[];
  /** Those that begin with an `initialize`, the newest first. */
  readonly initialized: readonly string[];
  /** Whether requests of 2026-07-28 are taken. */
  readonly stateless: boolean;
}

export function offeredVersions(configured: readonly ProtocolVersion[]): OfferedVersions {
  const all = KNOWN_VERSIONS.filter((version) => configured.includes(version));
  return {
    all,
    initialized: all.filter((version) => version !== STATELESS_VERSION),
    stateless: all.includes(STATELESS_VERSION),
  };
}
