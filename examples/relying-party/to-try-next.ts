import { html } from 'hono/html';
import type { Html } from './pages.ts';

interface Try {
  readonly title: string;
  readonly says: string;
  readonly commands: readonly string[];
}

/** An email address that needs no quotes in a shell. */
const PLAIN_ADDRESS = /^[\w.+-]+@[\w.-]+$/;

/**
 * Returns what the reader can do next, and what will happen then. The reader runs the commands in
 * another terminal, in the folder of the repository.
 */
export function toTryNext(issuer: string, email: unknown): Html {
  const who = typeof email === 'string' && PLAIN_ADDRESS.test(email) ? email : 'ada@example.com';
  return html`<p class="soft">
      Run these commands in another terminal, in the same folder. Reload this page after each one.
    </p>
    <ul class="tries">
      ${tries(who).map(item)}
      <li>
        <h3>Remove the access yourself</h3>
        <p>
          Every person can do this on
          <a href="${issuer}/oauth/applications">Portal’s page of applications</a>. The answers are
          then 401, and a refresh signs you out here.
        </p>
      </li>
    </ul>`;
}

const tries = (who: string): readonly Try[] => [
  {
    title: 'Take a permission away',
    says: 'The notes API answers 403 to the same token. When you give the permission back, it answers 200 again.',
    commands: [
      `npx portico account:deny ${who} notes:read`,
      `npx portico account:grant ${who} notes:read`,
    ],
  },
  {
    title: 'Suspend the account',
    says: 'The token stops working immediately: every answer is 401.',
    commands: [`npx portico account:suspend ${who}`, `npx portico account:restore ${who}`],
  },
  {
    title: 'See who has access, and end it',
    says: 'For each access, the list shows its id, who allowed what to which application, and when.',
    commands: [
      'npx portico oauth:authorization:list',
      'npx portico oauth:authorization:revoke <id>',
    ],
  },
  {
    title: 'Let an assistant in',
    says: 'This starts MCP tools that need the same kind of tokens, at http://localhost:8082.',
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
