import { defineConfig } from '@adonisjs/shield';

export default defineConfig({
  csrf: {
    enabled: true,
    // Portico puts its own token into these forms, and other applications may send people here with
    // a form.
    exceptRoutes: ['/oauth/authorize', '/oauth/applications'],
    methods: ['POST', 'PUT', 'PATCH', 'DELETE'],
  },
  xFrame: { enabled: true, action: 'DENY' },
  contentTypeSniffing: { enabled: true },
});
