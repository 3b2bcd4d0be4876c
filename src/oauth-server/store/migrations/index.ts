import type { Migration } from '../../../sql/schema.ts';
import { initialSchema } from './0001-initial.ts';
import { familiesAndTargets } from './0002-families.ts';
import { factsInOnePlace } from './0003-facts-in-one-place.ts';
import { familyMark } from './0004-family-mark.ts';
import { waitingRequests } from './0005-waiting-requests.ts';
import { oneRow } from './0006-one-row.ts';
import { factsInTheRow } from './0007-facts-in-the-row.ts';
import { idTokenAlg } from './0008-id-token-alg.ts';
import { whoRegistered } from './0009-who-registered.ts';
import { keptAnswer } from './0010-kept-answer.ts';
import { registration } from './0011-registration.ts';
import { clientKeys } from './0012-client-keys.ts';
import { dpop } from './0013-dpop.ts';
import { pushedRequests } from './0014-pushed-requests.ts';
import { clientProfile } from './0015-client-profile.ts';
import { keptAudit } from './0016-audit.ts';
import { usedAt } from './0017-used-at.ts';
import { lists } from './0018-lists.ts';
import { clientLogos } from './0019-client-logos.ts';
import { auditOfAuthorizations } from './0020-audit-of-authorizations.ts';

/** The schema of the authorization server, step by step; run by `db:migrate up`. */
export const oauthServerMigrations: readonly Migration[] = [
  initialSchema,
  familiesAndTargets,
  factsInOnePlace,
  familyMark,
  waitingRequests,
  oneRow,
  factsInTheRow,
  idTokenAlg,
  whoRegistered,
  keptAnswer,
  registration,
  clientKeys,
  dpop,
  pushedRequests,
  clientProfile,
  keptAudit,
  usedAt,
  lists,
  clientLogos,
  auditOfAuthorizations,
];
