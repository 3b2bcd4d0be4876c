import type { SignInView, ErrorView as KitErrorView } from '@portico/kit';
import type { Host, OAuthViews } from 'portico';

/** Pages of a host that use the types of their data. `npm run types` checks them. */

const escaped = (text: string) =>
  text.replaceAll(/[&<>"']/g, (found) => `&#${found.codePointAt(0)};`);

const PAGES: { readonly [View in keyof OAuthViews]: (data: OAuthViews[View]) => string } = {
  'oauth/consent': ({
    t,
    clientName,
    serverName,
    unverified,
    person,
    newScopes,
    requestId,
    csrfToken,
    action,
  }) =>
    `<h1>${escaped(t('consent.title', { client: clientName, server: serverName }))}</h1>
    <p>${escaped(person.name ?? '')} ${escaped(unverified?.asks ?? '')}</p>
    <ul>${newScopes.map(({ label }) => `<li>${escaped(label)}</li>`).join('')}</ul>
    <form method="post" action="${escaped(action)}">
      <input type="hidden" name="request_id" value="${requestId}"><input type="hidden" name="csrf_token" value="${csrfToken}">
      <button name="decision" value="allow">Allow</button></form>`,
  'oauth/applications': ({ t, locale, direction }) =>
    `<html lang="${locale}" dir="${direction}"><h1>${escaped(t('applications.title'))}</h1>`,
  'oauth/device': ({ t, action, question }) =>
    `<form action="${escaped(action)}">${escaped(question?.clientName ?? t('device.code'))}</form>`,
  'oauth/logout': ({ t, action, clientName }) =>
    `<form action="${escaped(action)}">${escaped(clientName ?? t('logout.confirm'))}</form>`,
  'oauth/error': ({ title, message, link, nonce, branding }) =>
    `<style nonce="${nonce}">${branding?.styles ?? ''}</style>${escaped(title + message + (link?.href ?? ''))}`,
};

export const render: Host['render'] = async (view, data) => {
  if (view === 'oauth/consent') return PAGES[view](data as unknown as OAuthViews['oauth/consent']);
  if (view === 'oauth/applications')
    return PAGES[view](data as unknown as OAuthViews['oauth/applications']);
  return PAGES['oauth/error'](data as unknown as OAuthViews['oauth/error']);
};

// @ts-expect-error -- the data of the page has no value clientname
export const misspelt = ({ clientname }: OAuthViews['oauth/consent']) => clientname;

export const signIn = ({
  waiting,
  identifier,
  error,
  invalid,
  returnTo,
  csrfToken,
}: SignInView): string =>
  [waiting?.clientName, identifier, error, invalid ? 'wrong' : '', returnTo, csrfToken].join(' ');

export const error = ({ title, message, status, requestId, name, nonce }: KitErrorView): string =>
  [title, message, status, requestId, name, nonce].join(' ');
