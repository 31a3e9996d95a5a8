/** What every simulated store shares. */
import * as fs from 'node:fs';
import { loadEngine } from '../../../src/core/store/openDatabase.ts';
import { wasmFile } from '../../core/store/support/values.ts';
import { Simulation, type World } from './simulation.ts';

export async function makeWorld(): Promise<{ world: World; begin: Map<string, Buffer> }> {
  const wasm = fs.readFileSync(wasmFile);
  const world = { wasm, engine: await loadEngine(wasm) };
  return { world, begin: await Simulation.begin(world) };
}
