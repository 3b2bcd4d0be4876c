import { accessLasts } from '../../authorization/access-lasts.ts';
import { shownGroups, shownLook } from '../../authorization/page-data.ts';
import { namedLikeServer } from '../../clients/who-asks.ts';
import type { Server } from '../../server.ts';
import { formatScope } from '../../tokens/scopes.ts';
import type { Words } from '../../pages/words.ts';
import type { OpenRequest } from './approvals.ts';
import type { DeviceQuestion } from './view.ts';

export function deviceQuestion(
  { request, client, scopes }: OpenRequest,
  { config, scopes: catalog, resources, scopeHeadings: headings, clock }: Server,
  words: Words,
  paths: { readonly logoPath: string | null; readonly applicationsPath: string },
): DeviceQuestion {
  const { begunAt, address } = request;
  const minutes = Math.floor((clock() - begunAt) / 60_000);
  const since = new Intl.RelativeTimeFormat(words.locale, { numeric: 'auto' });
  return {
    clientName: client.name,
    namedLikeServer: namedLikeServer(client, config.name),
    ...shownLook(client, paths.logoPath),
    groups: shownGroups(scopes, { catalog, headings }, words),
    scope: formatScope(scopes),
    resource: resources.find(request.audience)?.label ?? null,
    lasts: accessLasts(client, config, words),
    applicationsPath: paths.applicationsPath,
    began: {
      iso: new Date(begunAt).toISOString(),
      text: since.format(-Math.max(0, minutes), 'minute'),
    },
    address,
  };
}
