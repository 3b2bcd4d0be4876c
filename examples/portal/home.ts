import { randomBytes } from 'node:crypto';
import type { Application } from '@portico/kit';
import { pageHeaders, type Route } from 'portico';
import { notesOf } from './notes.ts';

/** The route GET /. It shows who is signed in, and this person's notes. */
export function homeRoute(application: Application): Route {
  return {
    name: 'home',
    methods: ['GET'],
    path: '/',
    async handler() {
      const user = await application.auth().user();
      const nonce = randomBytes(16).toString('base64');
      const html = await application.views.render('home', {
        nonce,
        loginUrl: application.path('login'),
        applicationsUrl: application.path('oauth_server_applications'),
        logoutUrl: application.path('logout'),
        profile: user?.getProfile() ?? null,
        notes: user === null ? [] : await notesOf(application.database, user.reference),
        csrfToken: user === null ? null : await application.auth().csrfToken(),
      });
      return new Response(html, { headers: pageHeaders(nonce) });
    },
  };
}
