// `vite build` asks the hook for this one, where nothing of the application's own environment is.
export const prerender = true;
