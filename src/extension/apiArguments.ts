/** What other extensions pass to the API, checked: not all of them are written in TypeScript. Each throws a TypeError. */
import * as v from 'valibot';

const limit = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)));

const filterSchema = v.optional(
  v.object({ archived: v.optional(v.boolean()), workspaceUri: v.optional(v.string()), limit }),
  {},
);
const pageSchema = v.optional(v.object({ before: v.optional(v.string()), limit }), {});
const createSchema = v.object({
  source: v.literal('api', 'must be "api"'),
  title: v.optional(v.pipe(v.string(), v.trim(), v.nonEmpty())),
  modelId: v.optional(v.string()),
});

export function checkFilter(filter: unknown): v.InferOutput<typeof filterSchema> {
  return check('listSessions', filterSchema, filter);
}

export function checkPage(page: unknown): v.InferOutput<typeof pageSchema> {
  return check('getMessages', pageSchema, page);
}

export function checkCreateOptions(options: unknown): v.InferOutput<typeof createSchema> {
  return check('create', createSchema, options);
}

export function checkId(id: unknown): string {
  return check('The id of a session', v.string(), id);
}

export function checkText(text: unknown): string {
  return check('send', v.string(), text);
}

function check<Schema extends v.GenericSchema>(
  what: string,
  schema: Schema,
  value: unknown,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  const problems = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'the value'}: ${issue.message}`);
  throw new TypeError(
    `${what} of the Holdfast API was called with a wrong argument. ${problems.join('. ')}.`,
  );
}
