import { actedBy, type Acting } from '../../auditing/audit.ts';
import type {
  CreatedInitialAccessToken,
  InitialAccessTokens,
  NewInitialAccessToken,
} from '../../clients/initial-access-tokens.ts';
import { randomIdentifier, randomToken, tokenHash } from '../../crypto.ts';
import { RegistrationError } from '../../errors.ts';
import type { Server } from '../../server.ts';
import type { InitialAccessToken } from '../../store/client.ts';

const A_DAY = 86_400;
const A_YEAR = 365 * A_DAY;
const MOST_USES = 1_000_000;
const LONGEST_NOTE = 200;

/** The store contains only hashes of the tokens. */
export class StoredInitialAccessTokens implements InitialAccessTokens {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  async create(
    { uses = 1, lifetime = A_DAY, note = '' }: NewInitialAccessToken,
    acting?: Acting,
  ): Promise<CreatedInitialAccessToken> {
    if (!Number.isInteger(uses) || uses < 1 || uses > MOST_USES) {
      throw new RegistrationError(`The number of uses must be from 1 to ${MOST_USES}`);
    }
    if (!Number.isInteger(lifetime) || lifetime < 1 || lifetime > A_YEAR) {
      throw new RegistrationError(`The lifetime must be from 1 to ${A_YEAR} seconds`);
    }
    if (note.length > LONGEST_NOTE || /[\p{C}\p{Zl}\p{Zp}]/u.test(note)) {
      throw new RegistrationError(
        `The note must be one line of at most ${LONGEST_NOTE} characters`,
      );
    }
    const { store, audit, clock } = this.#server;
    const token = randomToken();
    const createdAt = clock();
    const expiresAt = createdAt + lifetime * 1000;
    const kept = { id: randomIdentifier(), note, uses, usesLeft: uses, createdAt, expiresAt };
    await store.initialAccessTokens.insertInitialAccessToken(kept, tokenHash(token));
    await audit({
      type: 'initial_access_token_created',
      initialAccessTokenId: kept.id,
      ...actedBy(acting),
    });
    return { ...kept, token };
  }

  list(): Promise<readonly InitialAccessToken[]> {
    return this.#server.store.initialAccessTokens.listInitialAccessTokens();
  }

  async revoke(id: string, acting?: Acting): Promise<void> {
    const { store, audit } = this.#server;
    if (!(await store.initialAccessTokens.deleteInitialAccessToken(id))) {
      throw new RegistrationError(
        'No initial access token has this id; see oauth:initial-access-token:list',
      );
    }
    await audit({
      type: 'initial_access_token_revoked',
      initialAccessTokenId: id,
      ...actedBy(acting),
    });
  }
}
