import { defineConfig } from '@adonisjs/shield';

export default defineConfig({
  csrf: {
    enabled: true,
    // Portico has a token of its own in these forms, and other applications may send people here by a form.
    exceptRoutes: ['/oauth/authorize', '/oauth/applications'],
    methods: ['POST', 'PUT', 'PATCH', 'DELETE'],
  },
  xFrame: { enabled: true, action: 'DENY' },
  contentTypeSniffing: { enabled: true },
});
