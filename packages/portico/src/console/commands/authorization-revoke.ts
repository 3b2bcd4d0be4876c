import type { AddCommands } from '../../application/console-context.ts';
import type { RevokedAuthorization } from '../../grants/access.ts';
import { quotedPublic } from '../../quoting.ts';
import { openServer } from '../open-server.ts';
import { orFail } from './or-fail.ts';

export const addAuthorizationRevoke: AddCommands = (program, context) => {
  program
    .command('oauth:authorization:revoke')
    .description('revoke authorizations: their tokens and codes are refused from now on')
    .argument('<ids...>', 'the ids of the authorizations; see oauth:authorization:list')
    .option('--json', 'print only JSON to standard output')
    .action(async (ids: string[], options: { json?: boolean }) => {
      const { access } = await openServer(context);
      const ended = await orFail(context, access.revokeAuthorizations(ids, { by: 'console' }));
      if (options.json === true) return context.printJson({ items: ended.map(asJson) });
      context.print(ended.map(describe).join('\n'));
    });
};

function describe({ id, clientId, person, revoked }: RevokedAuthorization): string {
  const whose = `of ${quotedPublic(person.provider)} ${quotedPublic(person.id)} for the client ${clientId}`;
  return revoked
    ? `The authorization ${id} ${whose} is revoked.`
    : `The authorization ${id} ${whose} was already revoked.`;
}

function asJson({ id, clientId, person, revoked }: RevokedAuthorization) {
  return { id, client_id: clientId, person, revoked };
}
