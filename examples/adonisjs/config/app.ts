import { defineConfig } from '@adonisjs/core/http';

export const appUrl = process.env.PUBLIC_URL;

export const http = defineConfig({ allowMethodSpoofing: true });
