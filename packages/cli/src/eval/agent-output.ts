import { parseForeignJson } from '@skillstead/protocol'

/** What an agent answered, and the tokens that it reports. */
export interface AgentAnswer {
  readonly message: string
  readonly tokens?: number
  /** The JSON has no last message, or says that it is an error, such as a reached limit of turns. */
  readonly hasFailed: boolean
}

/**
 * Reads standard output of an agent. The text is the last message, unless it is the JSON of `claude -p --output-format
 * json` or `stream-json`, or of `codex exec --json`, which have the last message and the tokens.
 */
export function readAgentOutput(stdout: string): AgentAnswer {
  const text = stdout.trim()
  if (!text.startsWith('{')) return { message: text, hasFailed: false }
  let isAgent = false
  let isError = false
  let message: string | undefined
  let tokens: number | undefined
  for (const line of text.split('\n')) {
    const event = parseLine(line)
    isAgent ||= typeof event?.['type'] === 'string' && eventPattern.test(event['type'])
    if (event?.['type'] === 'result' || event?.['type'] === 'turn.completed') isError = event['is_error'] === true
    if (event?.['type'] === 'turn.failed') isError = true
    if (event?.['type'] === 'result' && typeof event['result'] === 'string') message = event['result']
    const item = event?.['item']
    if (event?.['type'] === 'item.completed' && isObject(item) && item['type'] === 'agent_message')
      message = typeof item['text'] === 'string' ? item['text'] : message
    if (event?.['type'] === 'result') tokens = countTokens(event['usage']) ?? tokens
    // Codex reports the tokens of each turn.
    if (event?.['type'] === 'turn.completed') tokens = (tokens ?? 0) + (countTokens(event['usage']) ?? 0)
  }
  if (message === undefined) return { message: text, hasFailed: isAgent }
  return { message: message.trim(), ...(tokens !== undefined && { tokens }), hasFailed: isError }
}

/** The first events of both agents, and those that end them. Other JSON is an answer. */
const eventPattern = /^(?:system|result|thread\.started|turn\.(?:started|completed|failed))$/

/** Cached tokens of Claude are counted apart from its input, those of Codex within it. */
const tokenFields = ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']

function countTokens(usage: unknown): number | undefined {
  if (!isObject(usage)) return undefined
  const counts = tokenFields.map((field) => usage[field]).filter((count) => Number.isSafeInteger(count)) as number[]
  return counts.length === 0 || counts.some((count) => count < 0) ? undefined : counts.reduce((a, b) => a + b, 0)
}

function parseLine(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const value = parseForeignJson(line)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
