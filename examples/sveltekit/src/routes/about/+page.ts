// `vite build` calls the hook for this page. At that time, the application's environment variables
// are not set.
export const prerender = true;
