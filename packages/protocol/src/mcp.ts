import * as v from 'valibot'
import { limits } from './limits.ts'
import { boundedArray } from './schemas/fields.ts'

/** The skill parameter of every tool. */
const name = textSchema(128, 'Name of the skill: owner/name, or a short name.')

/**
 * Input schemas of the tools of a node's MCP server. Only constraints that JSON Schema can express, because agents
 * receive these schemas; the endpoints behind the tools validate the rest.
 */
export const toolInputs = {
  search_skills: v.strictObject({
    query: textSchema(
      limits.needCharactersMax,
      'What the skill should do: its name, a few words, or a description of the task.',
      0,
    ),
    limit: v.optional(countSchema(limits.pageSizeMax, 'Maximum number of results, best first.'), 10),
    context: v.optional(
      v.pipe(
        v.strictObject({
          files: v.optional(
            textsSchema(
              limits.contextFilesMax,
              limits.contextPathCharactersMax,
              'Paths within the project, such as package.json.',
            ),
          ),
          languages: v.optional(
            textsSchema(limits.contextLanguagesMax, limits.contextLanguageCharactersMax, 'Programming languages.'),
          ),
          installed: v.optional(
            textsSchema(limits.contextInstalledMax, 128, 'Skills that you have: owner/name, or short names.'),
          ),
        }),
        v.description('What surrounds the task. It decides between skills that match almost equally.'),
      ),
    ),
  }),
  load_skill: v.strictObject({
    name,
    level: v.optional(
      v.pipe(
        v.picklist(['metadata', 'contract', 'summary', 'full']),
        v.description('How much of the skill to load. Each level includes the previous ones and costs more tokens.'),
      ),
      'full',
    ),
    version: v.optional(textSchema(64, 'Version such as 1.4.0. Default: the latest.')),
    maxTokens: v.optional(
      countSchema(10_000_000, 'Token budget of the response. Content that does not fit is left out.', 0),
    ),
    priority: v.optional(
      v.union([
        v.pipe(
          boundedArray(v.string(), 100),
          v.description('Headings of the sections to include first when maxTokens has no room for all.'),
        ),
        textSchema(1024, 'The same as one comma-separated text.'),
      ]),
    ),
  }),
  list_packs: v.strictObject({
    q: v.optional(textSchema(1000, 'Words to find in names and descriptions.', 0)),
    page: v.optional(countSchema(1_000_000, 'Page number.'), 1),
    limit: v.optional(countSchema(20, 'Packs per page.'), 10),
  }),
  report_review: v.strictObject({
    name,
    agentKey: textSchema(257, 'Key of the reviewing agent: platform:instance, such as claude-code:7f3a.'),
    rating: v.pipe(v.number(), v.minValue(1), v.maxValue(5), v.description('Any number from 1 to 5.')),
    content: textSchema(4000, 'What worked and what did not, for other agents.'),
  }),
} as const

/** Name of a tool of a node's MCP server. */
export type ToolName = keyof typeof toolInputs

/** Input of a tool of a node's MCP server, after defaults. */
export type ToolInput<Name extends ToolName> = v.InferOutput<(typeof toolInputs)[Name]>

function textSchema(charactersMax: number, description: string, charactersMin = 1) {
  return v.pipe(v.string(), v.minLength(charactersMin), v.maxLength(charactersMax), v.description(description))
}

function textsSchema(itemsMax: number, charactersMax: number, description: string) {
  const item = v.pipe(v.string(), v.minLength(1), v.maxLength(charactersMax))
  return v.pipe(boundedArray(item, itemsMax), v.description(description))
}

function countSchema(max: number, description: string, min = 1) {
  return v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max), v.description(description))
}
