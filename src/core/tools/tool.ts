/**
 * The port to tools. A tool describes itself to the model, checks what the model wrote and answers in text.
 *
 * Contract: `run` never throws for anything the model did or the workspace lacks; it answers with `isError` and words
 * the model can act on. It may throw when `signal` aborts, and it stops soon after that.
 */
import * as v from 'valibot';
import type { ToolDescription } from '../models/chatModel.ts';
import { WorkspaceError } from './workspace.ts';

export interface ToolContext {
  readonly signal: AbortSignal;
}

export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
}

export interface Tool extends ToolDescription {
  /** `input`: the arguments as parsed JSON, not checked yet. */
  run(input: unknown, context: ToolContext): Promise<ToolResult>;
}

/** Why a tool refused: `message` is written for the model. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly reason: 'arguments' | 'unavailable';

  constructor(reason: 'arguments' | 'unavailable', message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * A tool whose arguments are parsed with `schema` before its code sees them. What `run` returns as text is a success;
 * a `ToolError` or `WorkspaceError` it throws becomes an error result.
 */
export function makeTool<Schema extends v.GenericSchema>(definition: {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly schema: Schema;
  run(parsed: v.InferOutput<Schema>, context: ToolContext): Promise<string>;
}): Tool {
  const { name, description, parameters, schema } = definition;
  return {
    name,
    description,
    parameters,
    async run(input, context) {
      const parsed = v.safeParse(schema, input);
      if (!parsed.success) return { text: describeIssues(name, parsed.issues), isError: true };
      try {
        return { text: await definition.run(parsed.output, context), isError: false };
      } catch (error) {
        if (error instanceof ToolError || error instanceof WorkspaceError)
          return { text: error.message, isError: true };
        throw error;
      }
    },
  };
}

function describeIssues(name: string, issues: readonly v.BaseIssue<unknown>[]): string {
  const sentences = issues.map((issue) => {
    const path = v.getDotPath(issue);
    return path === null ? issue.message : `${path}: ${issue.message}`;
  });
  return `The arguments of ${name} do not fit its parameters. ${sentences.join('. ')}. Call it again with corrected arguments.`;
}
