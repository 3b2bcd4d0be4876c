import { examine, type Check, type ExaminedApplication } from 'portico';
import { markup, type Html } from '../html.ts';
import type { AdministrationParts, Page } from '../page.ts';
import { words } from '../formatting.ts';

/**
 * The page GET /oauth/admin/doctor. It shows the results of `oauth:server:doctor` for this process.
 */
export const doctor: Page = {
  async show({ parts }) {
    const { healthy, checks } = await examine(parts.examined ?? storeAlone(parts), parts.server);
    return {
      title: 'Doctor',
      body: markup`
      ${
        healthy
          ? markup`<p class="notice" role="status">No check fails.</p>`
          : markup`<p class="alert" role="alert">At least one check fails. See below.</p>`
      }
      <ul class="rows" role="list">${checks.map(row)}</ul>
      <p class="soft">These checks cover this process only. To check the public address and its proxies, run <code>npx portico oauth:server:doctor --online</code>.</p>`,
    };
  },
};

const MARKS = { ok: ' good', warning: ' bad', failing: ' bad', skipped: '' } as const;

function row({ part, outcome, detail, remedy }: Check): Html {
  return markup`
        <li>
          <h2 class="head">${part} <span class="badge${MARKS[outcome]}">${outcome}</span></h2>
          <p>${words(detail)}</p>${
            remedy === null
              ? null
              : markup`
          <p>What to do: ${words(remedy)}</p>`
          }
        </li>`;
}

/**
 * Returns what the doctor can examine if the server does not use the kit. The doctor skips the
 * checks of the missing parts.
 */
function storeAlone({ database, migrations }: AdministrationParts): ExaminedApplication {
  return { database, migrations };
}
