exports.up = (knex) =>
  knex.schema.createTable('people', (table) => {
    table.increments('id');
    table.string('name').notNullable();
  });
exports.down = (knex) => knex.schema.dropTable('people');
