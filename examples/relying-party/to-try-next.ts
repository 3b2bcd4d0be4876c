import { html } from 'hono/html';
import type { Html } from './pages.ts';

interface Try {
  readonly title: string;
  readonly says: string;
  readonly commands: readonly string[];
}

/** An address that the shell reads as one word, so that it needs no quotes. */
const PLAIN_ADDRESS = /^[\w.+-]+@[\w.-]+$/;

/**
 * Returns what the reader can do next, and what will happen. The commands are for another terminal,
 * in the folder of the repository.
 */
export function toTryNext(issuer: string, email: unknown): Html {
  const who = typeof email === 'string' && PLAIN_ADDRESS.test(email) ? email : 'ada@example.com';
  return html`<p class="soft">
      In another terminal, in the same folder. Reload this page after each.
    </p>
    <ul class="tries">
      ${tries(who).map(item)}
      <li>
        <h3>Remove the access yourself</h3>
        <p>
          As every person can, at
          <a href="${issuer}/oauth/applications">Portal’s page of applications</a>: 401 from then
          on, and a refresh ends it here.
        </p>
      </li>
    </ul>`;
}

const tries = (who: string): readonly Try[] => [
  {
    title: 'Take a permission away',
    says: 'The notes API answers 403 to the same token, and 200 again when it is given back.',
    commands: [
      `npx portico account:deny ${who} notes:read`,
      `npx portico account:grant ${who} notes:read`,
    ],
  },
  {
    title: 'Suspend the account',
    says: 'The token stops working at that moment: 401 everywhere.',
    commands: [`npx portico account:suspend ${who}`, `npx portico account:restore ${who}`],
  },
  {
    title: 'See who holds access, and end it',
    says: 'The list says who allowed which application what, and since when, and begins each with an id.',
    commands: [
      'npx portico oauth:authorization:list',
      'npx portico oauth:authorization:revoke <id>',
    ],
  },
  {
    title: 'Let an assistant in',
    says: 'Tools behind the same kind of tokens, over MCP, at http://localhost:8082.',
    commands: ['npm run example:assistant'],
  },
];

function item({ title, says, commands }: Try): Html {
  return html`<li>
    <h3>${title}</h3>
    <p>${says}</p>
    ${commands.map((command) => html`<code class="command">${command}</code>`)}
  </li>`;
}
