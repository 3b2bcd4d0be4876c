import { markup } from '../markup.ts';
import type { Page } from '../page.ts';
import { code, moment } from '../shown.ts';

/** GET /oauth/admin/keys: what ID tokens are signed with. */
export const keys: Page = {
  async show({ parts: { server } }) {
    const all = await server.keys.all();
    const rows = all.map((key, index) => {
      const signs = all.findIndex(({ algorithm }) => algorithm === key.algorithm) === index;
      return markup`
        <li>
          <h2 class="head">${code(key.kid)} <span class="badge${signs ? ' good' : ''}">${signs ? 'signs' : 'verifies only'}</span></h2>
          <p class="soft">${key.algorithm}, made ${moment(key.createdAt)}</p>
        </li>`;
    });
    return {
      title: 'Signing keys',
      body: markup`
      <p>The newest key of each algorithm signs; all are published, so that what the older ones signed can be proved.</p>
      ${rows.length === 0 ? markup`<p>There is no key, so nobody gets an ID token: run <code>npx portico oauth:server:setup</code>.</p>` : markup`<ul class="rows" role="list">${rows}</ul>`}`,
    };
  },
};
