export const load = ({ locals }) => ({ name: locals.user?.name ?? 'Nobody' });
