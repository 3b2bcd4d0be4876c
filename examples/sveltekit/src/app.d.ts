import type { User } from './lib/server/users.ts';

declare global {
  namespace App {
    interface Locals {
      user: User | null;
    }
  }
}
