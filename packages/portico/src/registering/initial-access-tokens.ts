import { actedBy, type Acting, type Audit } from '../auditing/audit.ts';
import { randomIdentifier, randomToken, tokenHash } from '../crypto.ts';
import { RegistrationError } from '../errors.ts';
import type { InitialAccessToken } from '../store/client.ts';
import type { InitialAccessTokenRecords } from '../store/sql/initial-access-tokens.ts';

/**
 * The initial access tokens of this server (RFC 7591 section 1.2), for console commands. A method that makes or ends one takes the person who does
 * it, for the audit event; without it, the event names no one.
 */
export interface InitialAccessTokens {
  /** Makes one; throws a RegistrationError that says what is wrong. */
  create(options: NewInitialAccessToken, acting?: Acting): Promise<CreatedInitialAccessToken>;
  /** Those that are stored, used up or not, oldest first. */
  list(): Promise<readonly InitialAccessToken[]>;
  /** Ends one; clients that it has registered stay. Throws a RegistrationError when it is unknown. */
  revoke(id: string, acting?: Acting): Promise<void>;
}

/** What an operator says of a new initial access token. */
export interface NewInitialAccessToken {
  /** How many clients may register with it; 1 unless given. */
  readonly uses?: number;
  /** How long it lives, in seconds; a day unless given. */
  readonly lifetime?: number;
  /** Who it is for; nothing unless given. */
  readonly note?: string;
}

/** A new initial access token: shown once, kept only as a hash. */
export interface CreatedInitialAccessToken extends InitialAccessToken {
  /** 256 random bits, base64url. */
  readonly token: string;
}

const A_DAY = 86_400;
const A_YEAR = 365 * A_DAY;
const MOST_USES = 1_000_000;
const LONGEST_NOTE = 200;

export function createInitialAccessTokens({
  store,
  audit,
  clock,
}: {
  readonly store: InitialAccessTokenRecords;
  readonly audit: Audit;
  readonly clock: () => number;
}): InitialAccessTokens {
  return {
    async create({ uses = 1, lifetime = A_DAY, note = '' }, acting) {
      if (!Number.isInteger(uses) || uses < 1 || uses > MOST_USES) {
        throw new RegistrationError(`The number of uses must be 1 to ${MOST_USES}`);
      }
      if (!Number.isInteger(lifetime) || lifetime < 1 || lifetime > A_YEAR) {
        throw new RegistrationError(`The lifetime must be 1 to ${A_YEAR} seconds`);
      }
      if (note.length > LONGEST_NOTE || /[\p{C}\p{Zl}\p{Zp}]/u.test(note)) {
        throw new RegistrationError(`The note must be a line of at most ${LONGEST_NOTE} characters`);
      }
      const token = randomToken();
      const createdAt = clock();
      const kept = {
        id: randomIdentifier(),
        note,
        uses,
        usesLeft: uses,
        createdAt,
        expiresAt: createdAt + lifetime * 1000,
      };
      await store.insertInitialAccessToken(kept, tokenHash(token));
      await audit({
        type: 'initial_access_token_created',
        initialAccessTokenId: kept.id,
        ...actedBy(acting),
      });
      return { ...kept, token };
    },
    list: () => store.listInitialAccessTokens(),
    async revoke(id, acting) {
      if (!(await store.deleteInitialAccessToken(id))) {
        throw new RegistrationError(
          'No initial access token has this id; see oauth:initial-access-token:list',
        );
      }
      await audit({ type: 'initial_access_token_revoked', initialAccessTokenId: id, ...actedBy(acting) });
    },
  };
}
