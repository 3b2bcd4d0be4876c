// `vite build` calls the hook for this page. The application's environment variables are not set
// then.
export const prerender = true;
