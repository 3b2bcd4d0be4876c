import { defineConfig } from '@adonisjs/shield';

export default defineConfig({
  csrf: {
    enabled: true,
    // Portico's forms on these pages contain its own token. Other applications may also send people
    // here with a form, which has no Shield token.
    exceptRoutes: ['/oauth/authorize', '/oauth/applications'],
    methods: ['POST', 'PUT', 'PATCH', 'DELETE'],
  },
  xFrame: { enabled: true, action: 'DENY' },
  contentTypeSniffing: { enabled: true },
});
