// Why the tests take fewer than 95 % of the branches of a file.
import path from 'node:path';

const FALLBACKS =
  'The rest are values that the compiler asks for, such as `?? null` after an index that exists. No input takes them.';

const FAULTS =
  'The rest pass on a fault of Node or of Portico: an error of a class that the code does not know, or a thrown value that is not an error.';

/** The reasons, by a pattern for the paths of files. The first pattern that matches is used. */
export const REASONS: Readonly<Record<string, string>> = {
  'packages/admin/src/html.ts': FALLBACKS,
  'packages/portico/src/clients/listing.ts': FALLBACKS,
  'packages/portico/src/console/spans.ts': FALLBACKS,
  'packages/portico/src/features/back-channel-logout/sessions.ts': FALLBACKS,
  'packages/portico/src/features/jwt-bearer/links.ts': FALLBACKS,
  'packages/portico/src/grants/living-access.ts': FALLBACKS,
  'packages/portico/src/store/sql/{authorizations,expired,refresh-tokens,statements}.ts': FALLBACKS,
  'packages/portico/src/pages/markup.ts': FALLBACKS,
  'packages/portico/src/clients/reading-assertions.ts': FAULTS,
  'packages/portico/src/console/{checks,engine-examinations}.ts': FAULTS,
  'packages/portico/src/features/branding/logo.ts': FAULTS,
  'packages/portico/src/features/private-key-jwt/decoy-client.ts': FAULTS,
  'packages/sql/src/failures.ts': FAULTS,
  'packages/portico/src/http/outbound/dns.ts':
    'It asks the name servers of the Internet. The tests use only this computer.',
  'packages/create-portico/src/**':
    'The last result lacks them, because a process of its tests left half a report. Add them: `npm run coverage -- --add test/create-portico.test.ts`.',
};

/** Returns the reason for a file, or null if it has none. */
export function reasonFor(file: string): string | null {
  const found = Object.entries(REASONS).find(([pattern]) => path.matchesGlob(file, pattern));
  return found?.[1] ?? null;
}
