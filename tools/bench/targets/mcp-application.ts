// Portico with an MCP endpoint. The targets of doors.ts use this file.
import { listen, startApplication } from '@portico/kit';
import { mcp, tool } from '@portico/mcp';
import { authorizationServerOf } from 'portico';
import { runTarget, type Place, type Seeded } from '../target.ts';
import { definitionFor, seed } from './portico-application.ts';

type Changes = Readonly<Record<string, unknown>>;

const SCOPES = {
  'notes:read': 'Read your notes',
  'mcp:service': 'Use tools',
  'mcp:tools': 'Use your tools',
};

/** Registers the tool that `works.ts` calls. */
function tools(): void {
  tool().register({
    name: () => 'my_name',
    description: () => 'Answers at once',
    inputSchema: () => ({ type: 'object' }),
    handle: () => ({ name: 'Ada' }),
  });
}

/** Runs the target. `changes` override its defaults. */
export function run(
  changes: { readonly server?: Changes; readonly mcp?: Changes } = {},
): Promise<void> {
  const start = (place: Place) => {
    const server = { audience: `${place.url}/mcp`, scopes: SCOPES, ...changes.server };
    const additions = { plugins: [mcp()], mcp: changes.mcp ?? {}, tools };
    return startApplication(definitionFor(place, server, additions), { env: { APP_ENV: 'dev' } });
  };
  const serve = async (place: Place) =>
    listen(await start(place), { port: place.port, hostname: '127.0.0.1' });
  return runTarget({ serve, seed: (place) => seedWithToken(place, start) });
}

async function seedWithToken(
  place: Place,
  start: (place: Place) => ReturnType<typeof startApplication>,
): Promise<Seeded> {
  const seeded = await seed(place, start, ['mcp:tools', 'mcp:service']);
  const opened = await start(place);
  const { token } = await authorizationServerOf(opened).initialAccessTokens.create({
    uses: 1_000_000,
  });
  await opened.close();
  return { ...seeded, initialAccessToken: token, paths: { ...seeded.paths, mcp: '/mcp' } };
}
