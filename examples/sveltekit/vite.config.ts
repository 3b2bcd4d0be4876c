import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [
    sveltekit({
      adapter: adapter(),
      // src/hooks.server.ts checks where a form comes from. Other sites may post to the endpoints.
      csrf: { trustedOrigins: ['*'] },
    }),
  ],
});
