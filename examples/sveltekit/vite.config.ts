import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [
    sveltekit({
      adapter: adapter(),
      // src/hooks.server.ts checks where a form comes from, behind the endpoints that other sites
      // may post to.
      csrf: { trustedOrigins: ['*'] },
    }),
  ],
});
