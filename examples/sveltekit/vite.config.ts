import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [
    sveltekit({
      adapter: adapter(),
      // Trust all origins here. src/hooks.server.ts checks where a form comes from, after it has
      // answered the endpoints to which other sites may post.
      csrf: { trustedOrigins: ['*'] },
    }),
  ],
});
