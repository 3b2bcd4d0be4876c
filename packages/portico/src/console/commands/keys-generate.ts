import type { AddCommands } from '../../application/console-context.ts';
import type { SigningAlgorithm } from '../../store/client.ts';
import { openServer } from '../open-server.ts';
import { hasLostKeys } from '../setup.ts';
import type { ClientChoices } from './client-create.ts';
import { joinAlternatives } from './client-options.ts';
import { orFail } from './or-fail.ts';

export function addKeysGenerate({ algorithms }: ClientChoices): AddCommands {
  return (program, context) => {
    program
      .command('oauth:keys:generate')
      .description('create a signing key and use it from now on; earlier keys stay published')
      .option(
        '--alg <algorithm>',
        `the key's algorithm: ${joinAlternatives(algorithms)} (default: RS256). Keys with ` +
          'other algorithms are used only for applications that have this algorithm ' +
          '(--id-token-alg)',
      )
      .option('--json', 'print only JSON to standard output')
      .action(
        async ({ alg, json }: { readonly alg?: SigningAlgorithm; readonly json?: boolean }) => {
          const server = await openServer(context);
          const { keys } = server;
          const isInPlaceOfLost =
            (await keys.all().catch(() => [])).length === 0 &&
            (await hasLostKeys(server).catch(() => false));
          const { kid } = await orFail(context, keys.generate(alg, { by: 'console' }));
          if (isInPlaceOfLost) {
            context.note(
              'There was no key, but ID tokens were issued before. Applications refuse those ' +
                'ID tokens from now on. If you restore the earlier key directory, ' +
                'delete this key from it.',
            );
          }
          if (json === true) return context.printJson({ kid });
          const forWhom =
            alg === undefined || alg === 'RS256'
              ? ''
              : `, for applications created with --id-token-alg ${alg}`;
          context.print(`The key ${kid} signs from now on${forWhom}. Earlier keys stay published.`);
        },
      );
  };
}
