const url = process.env.DATABASE_URL;

module.exports = {
  client: url.startsWith('postgres') ? 'pg' : 'mysql2',
  connection: url,
  migrations: { directory: './migrations' },
};
