import 'reflect-metadata';
import { Ignitor, prettyPrintError } from '@adonisjs/core';

const APP_ROOT = new URL('../', import.meta.url);

new Ignitor(APP_ROOT, {
  importer: (file) => import(file.startsWith('.') ? new URL(file, APP_ROOT).href : file),
})
  .httpServer()
  .start()
  .catch(prettyPrintError);
