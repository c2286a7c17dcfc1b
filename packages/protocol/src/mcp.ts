import * as v from 'valibot'
import { limits } from './limits.ts'
import { boundedArray } from './schemas/fields.ts'

/** A skill as every tool takes it. */
const name = text(128, 'The skill: owner/name, or a short name.')

/**
 * What the tools of a node's MCP server take (contract, Outside /api/v1). Only what JSON Schema can say, since agents are
 * shown these; the endpoints that the tools call check the rest.
 */
export const toolInputs = {
  search_skills: v.strictObject({
    query: text(1000, 'What the skill should do, in a few words.', 0),
    limit: v.optional(count(limits.pageSizeMax, 'How many to list, best first.'), 10),
  }),
  load_skill: v.strictObject({
    name,
    level: v.optional(
      v.pipe(
        v.picklist(['metadata', 'contract', 'summary', 'full']),
        v.description('How much of it: each level holds those before it, and costs more.'),
      ),
      'full',
    ),
    version: v.optional(text(64, 'As in 1.4.0; the latest unless it is said.')),
    maxTokens: v.optional(
      count(10_000_000, 'The most tokens that the answer may take; what does not fit is left out.'),
    ),
    priority: v.optional(
      v.union([
        v.pipe(
          boundedArray(v.string(), 100),
          v.description('Headings of the sections to keep first where maxTokens leaves no room for all.'),
        ),
        text(1024, 'The same, separated by commas.'),
      ]),
    ),
  }),
  list_packs: v.strictObject({
    q: v.optional(text(1000, 'Words of the names and descriptions.', 0)),
    page: v.optional(count(1_000_000, 'Which page of them.'), 1),
    limit: v.optional(count(20, 'How many a page holds.'), 10),
  }),
  report_review: v.strictObject({
    name,
    agentKey: text(257, 'Who reviews: platform:instance, as in claude-code:7f3a.'),
    rating: v.pipe(v.number(), v.minValue(1), v.maxValue(5), v.description('Any number from 1 to 5.')),
    content: text(4000, 'What worked and what did not, for those who come after.'),
  }),
} as const

/** The name of a tool of a node's MCP server. */
export type ToolName = keyof typeof toolInputs

/** What a tool of a node's MCP server is called with, its defaults filled in. */
export type ToolInput<Name extends ToolName> = v.InferOutput<(typeof toolInputs)[Name]>

function text(charactersMax: number, description: string, charactersMin = 1) {
  return v.pipe(v.string(), v.minLength(charactersMin), v.maxLength(charactersMax), v.description(description))
}

function count(max: number, description: string) {
  return v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(max), v.description(description))
}
