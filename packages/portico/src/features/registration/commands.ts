import { readSpan } from '../../console/spans.ts';
import type { AddCommands } from '../../application/console-context.ts';
import type { InitialAccessToken } from '../../store/client.ts';
import { openServer } from '../../console/open-server.ts';
import { orFail } from '../../console/commands/or-fail.ts';

const addInitialAccessTokenCreate: AddCommands = (program, context) => {
  program
    .command('oauth:initial-access-token:create')
    .description('create a token that lets clients register themselves (shown only once)')
    .option('--uses <number>', 'how many clients may register with the token (default: 1)')
    .option('--lifetime <span>', 'how long the token is valid, such as 12h (default: one day)')
    .option('--note <text>', 'a note to show in the list, such as who the token is for')
    .option('--json', 'print only JSON to standard output')
    .action(
      async ({
        uses,
        lifetime,
        note,
        json,
      }: {
        readonly uses?: string;
        readonly lifetime?: string;
        readonly note?: string;
        readonly json?: boolean;
      }) => {
        const { initialAccessTokens, config } = await openServer(context);
        const created = await orFail(
          context,
          initialAccessTokens.create(
            {
              ...(uses === undefined ? {} : { uses: Number(uses) }),
              ...(lifetime === undefined
                ? {}
                : { lifetime: readSpan(context, '--lifetime', lifetime) }),
              ...(note === undefined ? {} : { note }),
            },
            { by: 'console' },
          ),
        );
        if (json === true) {
          return context.printJson({ initial_access_token: created.token, ...asJson(created) });
        }
        context.print(`initial access token: ${created.token}`);
        context.note(
          'Copy the token now. It is not shown again: only its hash is stored. ' +
            `Its id is ${created.id}.`,
        );
        if ((config.registration ?? 'off') === 'off') {
          context.note(
            'oauth_server:registration is off, so no client can register with this token yet.',
          );
        }
      },
    );
};

const addInitialAccessTokenList: AddCommands = (program, context) => {
  program
    .command('oauth:initial-access-token:list')
    .description('list the tokens that let clients register themselves')
    .option('--json', 'print only JSON to standard output')
    .action(async ({ json }: { readonly json?: boolean }) => {
      const tokens = await (await openServer(context)).initialAccessTokens.list();
      if (json === true) return context.printJson(tokens.map(asJson));
      if (tokens.length === 0) {
        return context.note(
          'There is no initial access token. To create one, see ' +
            'oauth:initial-access-token:create --help.',
        );
      }
      context.print(tokens.map(describe).join('\n'));
    });
};

const addInitialAccessTokenRevoke: AddCommands = (program, context) => {
  program
    .command('oauth:initial-access-token:revoke')
    .description('revoke an initial access token; clients that used it stay registered')
    .argument('<id>')
    .action(async (id: string) => {
      await orFail(
        context,
        (await openServer(context)).initialAccessTokens.revoke(id, { by: 'console' }),
      );
      context.print(`The initial access token ${id} is revoked.`);
    });
};

export const addInitialAccessTokenCommands: AddCommands = (program, context) => {
  addInitialAccessTokenCreate(program, context);
  addInitialAccessTokenList(program, context);
  addInitialAccessTokenRevoke(program, context);
};

function describe({ id, note, uses, usesLeft, expiresAt }: InitialAccessToken): string {
  const until = new Date(expiresAt).toISOString();
  return `${id}  ${usesLeft} of ${uses} uses left, until ${until}${note === '' ? '' : `  ${note}`}`;
}

function asJson({ id, note, uses, usesLeft, createdAt, expiresAt }: InitialAccessToken) {
  return {
    id,
    note,
    uses,
    uses_left: usesLeft,
    created_at: Math.floor(createdAt / 1000),
    expires_at: Math.floor(expiresAt / 1000),
  };
}
