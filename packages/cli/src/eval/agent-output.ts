import { isRecord, readFields } from '@skillstead/protocol'

/** What an agent answered, and the tokens that it reports. */
export interface AgentAnswer {
  readonly message: string
  readonly tokens?: number
  /** Whether the JSON has no last message, or reports an error, such as a reached limit of turns. */
  readonly hasFailed: boolean
}

/**
 * Reads standard output of an agent. The text is the last message, unless the agent printed the JSON of `claude -p
 * --output-format json` or `stream-json`, or of `codex exec --json`, which contains the last message and the tokens.
 */
export function readAgentOutput(stdout: string): AgentAnswer {
  const text = stdout.trim()
  if (!text.startsWith('{')) return { message: text, hasFailed: false }
  let isAgent = false
  let isError = false
  let message: string | undefined
  let tokens: number | undefined
  for (const line of text.split('\n')) {
    const { type, is_error: hasError, result, usage, item } = line.startsWith('{') ? readFields(line) : {}
    isAgent ||= typeof type === 'string' && eventPattern.test(type)
    if (type === 'item.completed' && isRecord(item) && item['type'] === 'agent_message')
      message = typeof item['text'] === 'string' ? item['text'] : message
    if (type === 'turn.failed') isError = true
    if (type !== 'result' && type !== 'turn.completed') continue
    isError = hasError === true
    if (type === 'result' && typeof result === 'string') message = result
    const counted = countTokens(usage)
    // Codex reports the tokens of each turn, Claude those of all turns together.
    if (counted !== undefined) tokens = type === 'result' ? counted : (tokens ?? 0) + counted
  }
  if (message === undefined) return { message: text, hasFailed: isAgent }
  return { message: message.trim(), ...(tokens !== undefined && { tokens }), hasFailed: isError }
}

/** Types of the first and last events in the JSON of Claude and Codex. JSON with other types is an answer. */
const eventPattern = /^(?:system|result|thread\.started|turn\.(?:started|completed|failed))$/

/** Cached tokens of Claude are counted apart from its input, those of Codex within it. */
const tokenFields = ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']

function countTokens(usage: unknown): number | undefined {
  if (!isRecord(usage)) return undefined
  const counts = tokenFields.map((field) => usage[field]).filter((one): one is number => Number.isSafeInteger(one))
  return counts.length === 0 || counts.some((count) => count < 0) ? undefined : counts.reduce((a, b) => a + b, 0)
}
