import { defineConfig } from '@adonisjs/shield';

export default defineConfig({
  csrf: {
    enabled: true,
    // Portico adds its own token to the forms of these pages. Other applications may send people to
    // them with a form, which has no token of Shield.
    exceptRoutes: ['/oauth/authorize', '/oauth/applications'],
    methods: ['POST', 'PUT', 'PATCH', 'DELETE'],
  },
  xFrame: { enabled: true, action: 'DENY' },
  contentTypeSniffing: { enabled: true },
});
