export const load = ({ locals }) => ({ name: locals.user?.name ?? 'No one' });
