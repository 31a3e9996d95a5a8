/** The lifecycle's times and cap, from the settings. What stands there may be anything; nonsense counts as the default. */
import * as v from 'valibot';
import * as vscode from 'vscode';
import { defaultLimits, type LifecycleLimits } from '../core/runtime/registry.ts';
import { section, settings } from './contributions.ts';

const positive = v.pipe(v.number(), v.finite(), v.minValue(1));

export function lifecycleLimits(): LifecycleLimits {
  const configuration = vscode.workspace.getConfiguration(section);
  const read = (key: string, unit: number, fallback: number): number => {
    const parsed = v.safeParse(positive, configuration.get<unknown>(key));
    return parsed.success ? parsed.output * unit : fallback;
  };
  return {
    idleMs: read(settings.idleMinutes, 60_000, defaultLimits.idleMs),
    graceMs: read(settings.graceSeconds, 1000, defaultLimits.graceMs),
    maximumRuntimes: read(settings.maximumChatsInMemory, 1, defaultLimits.maximumRuntimes),
  };
}
