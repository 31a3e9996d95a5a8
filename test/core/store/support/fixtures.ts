/** Stores as earlier versions wrote them (see makeFixture.ts). */
import * as path from 'node:path';

export function fixtureFolder(version: number): string {
  return path.resolve(import.meta.dirname, '../../../fixtures', `store-v${version}`);
}
