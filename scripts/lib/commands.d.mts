export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly shell?: boolean;
}
export function run(command: string, args: readonly string[], options?: RunOptions): Promise<number>;
export function npm(args: readonly string[], options?: RunOptions): Promise<number>;
export function runQuietly(
  command: string,
  args: readonly string[],
  options?: Omit<RunOptions, 'shell'>,
): Promise<{ readonly code: number; readonly output: string }>;
