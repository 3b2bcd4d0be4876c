/** The MCP versions that this package supports, newest first. */
export const KNOWN_VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] as const;

/** A version of MCP. Versions are dates, so they can be compared as text. */
export type ProtocolVersion = (typeof KNOWN_VERSIONS)[number];

/**
 * The version without `initialize`. In this version, each request contains its context in `_meta`.
 */
export const STATELESS_VERSION = '2026-07-28';
/**
 * The version of a request that names no version. Only in this version can a body contain several
 * messages (MCP 2025-03-26, Batching).
 */
export const BATCHING_VERSION = '2025-03-26';

/** The versions that an endpoint accepts. */
export interface OfferedVersions {
  /** All accepted versions, starting with the newest. */
  readonly all: readonly string[];
  /** The accepted versions that use `initialize`, starting with the newest. */
  readonly initialized: readonly string[];
  /** Whether the endpoint accepts requests of version 2026-07-28. */
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
