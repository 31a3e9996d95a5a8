/** Runs one tool call of a model. Whatever is wrong with the call becomes a result the model can act on. */
import type { ToolCall } from '../session/model.ts';
import type { Tool, ToolResult } from '../tools/tool.ts';
import { Aborted, untilAborted } from './abort.ts';
import { toWholeCharacters } from './wholeCharacters.ts';

/** Raises `Aborted` once `signal` is aborted, nothing else. */
export async function runToolCall(
  call: ToolCall,
  tools: readonly Tool[],
  signal: AbortSignal,
): Promise<ToolResult> {
  const tool = tools.find((candidate) => candidate.name === call.name);
  if (tool === undefined) return failed(unknownTool(call.name, tools));
  const input = parseArguments(call.arguments);
  if (!input.isJson)
    return failed(
      `The arguments of ${call.name} are not valid JSON (${input.problem}). Call it again with valid JSON.`,
    );
  try {
    const result = await untilAborted(tool.run(input.value, { signal }), signal);
    return { text: toWholeCharacters(result.text), isError: result.isError };
  } catch (error) {
    if (signal.aborted) throw new Aborted();
    return failed(`${call.name} failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function failed(text: string): ToolResult {
  return { text: toWholeCharacters(text), isError: true };
}

function unknownTool(name: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.name).join(', ');
  return `There is no tool named ${name}. ${names === '' ? 'No tools are available; answer without them.' : `Available: ${names}.`}`;
}

type ParsedArguments = { isJson: true; value: unknown } | { isJson: false; problem: string };

/** Models write nothing at all for a call without arguments. */
function parseArguments(text: string): ParsedArguments {
  if (text.trim() === '') return { isJson: true, value: {} };
  try {
    const value: unknown = JSON.parse(text);
    return { isJson: true, value };
  } catch (error) {
    return { isJson: false, problem: error instanceof Error ? error.message : String(error) };
  }
}
