import { html } from 'hono/html';
import type { Html } from './pages.ts';
import type { SignedIn } from './signed-in.ts';

/** The lifetime of a token. Times are in milliseconds since 1970. */
interface Life {
  readonly name: string;
  readonly for: string;
  readonly from: number;
  readonly until: number;
}

/** Shows for each token how long it is valid, with a bar for the time that is left. */
export function lives({ tokens, refreshTokenLifetime, now }: SignedIn): Html {
  const { issuedAt, expiresIn, refreshToken, claims } = tokens;
  const inSeconds = (seconds: number) => issuedAt + seconds * 1000;
  const access = 'opens the API, for anyone who has it';
  const all: readonly Life[] = [
    ...(expiresIn === null
      ? []
      : [{ name: 'Access token', for: access, from: issuedAt, until: inSeconds(expiresIn) }]),
    {
      name: 'ID token',
      for: 'shows who signed in',
      from: claims.iat * 1000,
      until: claims.exp * 1000,
    },
    ...(refreshToken === null || refreshTokenLifetime === null
      ? []
      : [
          {
            name: 'Refresh token',
            for: 'gets new tokens, once; a second use ends the access',
            from: issuedAt,
            until: inSeconds(refreshTokenLifetime),
          },
        ]),
  ];
  return html`<ul class="lives">
      ${all.map((life) => bar(life, now))}
    </ul>
    <form method="post" action="/refresh">
      <button class="primary wide" type="submit">Refresh the tokens</button>
    </form>`;
}

function bar({ name, for: what, from, until }: Life, now: number): Html {
  const left = Math.min(1, Math.max(0, (until - now) / (until - from)));
  return html`<li>
    <p><strong>${name}</strong> <span class="soft">${what}</span></p>
    <svg class="life" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect class="whole" width="100" height="4" />
      <rect class="left" width="${(left * 100).toFixed(1)}" height="4" />
    </svg>
    <p class="soft">
      ${
        until > now
          ? html`${duration(until - now)} left, until
              <time datetime="${new Date(until).toISOString()}">${moment(until)}</time>`
          : 'It has expired.'
      }
    </p>
  </li>`;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** Formats a duration in the largest unit of which it has at least two, or else in seconds. */
function duration(milliseconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => milliseconds >= 2 * each) ?? UNITS[3];
  const count = Math.round(milliseconds / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const moment = (at: number): string => MOMENT.format(at);
