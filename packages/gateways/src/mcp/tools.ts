import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import { areDangerous, toPackTexts } from '@skillstead/core/internal'
import { RegistryError, keysOf, toRecord, type Pack, type RegistryApi } from '@skillstead/protocol'
import { toSearchName } from '@skillstead/protocol/wire'
import { toolInputs, type ToolInput, type ToolName } from '@skillstead/protocol/mcp'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { toToolFailure, type OnError } from './failures.ts'
import { toLeanHit } from './lean-hit.ts'

/** Maximum size of a tool result in characters: hosts put the result into the context of a model. */
const resultCharactersMax = 2_000_000

interface Tool<Name extends ToolName> {
  readonly title: string
  readonly description: string
  /** Whether the tool is read-only. */
  readonly reads: boolean
  call(api: RegistryApi, input: ToolInput<Name>): Promise<object>
}

const tools: { readonly [Name in ToolName]: Tool<Name> } = {
  search_skills: {
    title: 'Search skills',
    description:
      'Finds skills by what they do, best first, with short descriptions, the passage of the instructions that fits, ' +
      'downloads and security scores. Describe the task in a sentence or two. The texts were written by the authors of the skills.',
    reads: true,
    async call(api, { query, limit, context }) {
      const input = { q: query, limit, context, explain: true }
      const { skills, total, partial } = await api[toSearchName(input)](input)
      return { skills: skills.map(toLeanHit), total, ...(partial && { partial }) }
    },
  },
  load_skill: {
    title: 'Load a skill',
    description:
      'Loads a skill at one level: metadata, contract, summary, or full with its instructions. ' +
      'maxTokens limits the tokens of its content. The instructions were written by its author.',
    reads: true,
    call: (api, input) => api.loadSkill(input),
  },
  list_packs: {
    title: 'List packs',
    description: 'Lists packs: collections of skills that a user chose for a purpose.',
    reads: true,
    async call(api, input) {
      const { packs, total, page, totalPages } = await api.listPacks(input)
      const shown = await Promise.all(
        packs.map(async (pack) => ((await areDangerous(toPackTexts(pack))) ? [] : [pack])),
      )
      return { packs: shown.flat().map(toListedPack), total, page, totalPages }
    },
  },
  report_review: {
    title: 'Review a skill',
    description:
      'Publishes how a skill worked for you. Each agent has one review per skill: a new review replaces it. ' +
      'The first review of an agent returns its agentToken, which is shown only once.',
    reads: false,
    call: (api, input) => api.createAgentReview(input),
  },
}

/** The converted schemas of the tools. They are converted once, because a server is created for every request. */
const inputSchemas = toRecord(keysOf(toolInputs), (name) => toStandardJsonSchema(toolInputs[name]))

/** Adds the tools to a server that is not connected yet. */
export function addTools(server: McpServer, api: RegistryApi, onError: OnError): void {
  for (const name of keysOf(tools)) {
    const { title, description, reads, call }: Tool<ToolName> = tools[name]
    const annotations = { readOnlyHint: reads, destructiveHint: false, idempotentHint: true, openWorldHint: false }
    const config = { title, description, annotations, inputSchema: inputSchemas[name] }
    server.registerTool(name, config, async (input) => {
      try {
        return toToolResult(await call(api, input))
      } catch (error) {
        return toToolFailure(error, onError)
      }
    })
  }
}

/**
 * The result of a tool as text, which every host gives to its model. Structured content is left out, because many hosts
 * would give it to the model in addition to the text.
 */
function toToolResult(value: object): CallToolResult {
  const text = JSON.stringify(value)
  if (text.length > resultCharactersMax) {
    throw new RegistryError(
      'payload_too_large',
      `The result would have ${text.length} characters; at most ${resultCharactersMax} are allowed. Use maxTokens or limit to get less.`,
    )
  }
  return { content: [{ type: 'text', text }] }
}

/** Number of skills of a pack that a list of packs shows; the page of the pack and `search_skills` show the others. */
const membersMax = 10

/**
 * A pack with the names of its first skills: a pack of hundreds of described skills would fill a model's context, and
 * `search_skills` and `load_skill` describe each skill.
 */
function toListedPack({ skills, ...pack }: Pack) {
  const shown = skills
    .slice(0, membersMax)
    .map(({ fullName, pinnedVersion, note }) => ({ fullName, pinnedVersion, note }))
  return { ...pack, skills: shown, totalSkills: skills.length }
}
