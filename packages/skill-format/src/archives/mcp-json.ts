import { firstIssueOnly, isLoopbackHost, JsonLimitError, parseForeignJson } from '@skillstead/protocol'
import * as v from 'valibot'
import type { PathProblem } from './archive-error.ts'
import { toFoldedPath } from './file-paths.ts'

/** The file with the MCP servers of a skill, as in Agent Plugins 1.0.0. */
const mcpFile = 'mcp.json'
const schemaId = 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json'
const bytesMax = 64 * 1024
const valuesMax = 10_000
const serversMax = 50
const itemsMax = 64
const charactersMax = 2048

const text = v.pipe(
  v.string('must be text.'),
  v.maxLength(charactersMax, `is longer than ${charactersMax} characters.`),
  // oxlint-disable-next-line no-control-regex
  v.regex(/^[^\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\p{Cf}]*$/u, 'has control or invisible characters.'),
  v.check((value) => value.isWellFormed(), 'is not valid Unicode.'),
)
/** A JSON object. Not `v.object`, which accepts arrays. */
const object = v.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object.',
)
const tooMany = `has more than ${itemsMax} entries.`
const serverName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/
const variableName = /^(?!plugin_(?:root|data)$)[a-z_][a-z0-9_]{0,127}$/i
/** Variables that make a program load other code, or start another program than the one that a user sees. */
const loaderVariable =
  /^(?:(?:LD|DYLD)_.*|NODE_OPTIONS|PYTHON(?:STARTUP|HOME|BREAKPOINT)|BASH_ENV|BASH_FUNC_.*|ENV|PROMPT_COMMAND|PS4|IFS|SHELLOPTS|BASHOPTS|PATH|PATHEXT|COMSPEC|PERL5(?:OPT|DB|LIB)|RUBY(?:OPT|LIB)|_?JAVA(?:_TOOL)?_OPTIONS|JDK_JAVA_OPTIONS|LUA_INIT.*|PHPRC|PHP_INI_SCAN_DIR|GIT_(?:SSH|SSH_COMMAND|EXEC_PATH|CONFIG.*)|DOTNET_STARTUP_HOOKS|COR(?:ECLR)?_PROFILER.*|GCONV_PATH|GLIBC_TUNABLES)$/i
const headerName = /^[\w!#$%&'*+.^`|~-]{1,128}$/
const placeholder = /\$\{(?!PLUGIN_(?:ROOT|DATA)\})/
/** An HTTP URL, which may have a path, without user information and fragment. */
const urlPattern = /^https?:\/\/[^\s\\/@?#]+(?:[/?][^\s\\#]*)?$/i

const expanded = v.pipe(
  text,
  v.check(
    (value) => !placeholder.test(value),
    'has a placeholder other than ${PLUGIN_ROOT} and ${PLUGIN_DATA}. Clients that expand variables would pass on their values. Remove it.',
  ),
)
const fixed = v.pipe(
  text,
  v.check((value) => !value.includes('${'), 'has a placeholder, which the format does not expand here. Remove it.'),
)
const command = v.pipe(fixed, v.nonEmpty('is empty. Name a program, or a file of the skill as ./FILE.'))
const cwd = v.pipe(
  expanded,
  v.regex(
    /^(?:\.\/|\$\{PLUGIN_(?:ROOT|DATA)\}(?:\/|$))/,
    'must begin with ./, ${PLUGIN_ROOT} or ${PLUGIN_DATA}: a server starts in a folder of the skill.',
  ),
  v.check(
    (value) => !/(?:^|[\\/])\.\.(?:[\\/]|$)|\\|:/.test(value),
    'leads out of the skill. Write a path below it, without `..`, backslashes and colons.',
  ),
)
const url = v.pipe(
  fixed,
  v.regex(urlPattern, 'must be an http or https URL without user, password and fragment.'),
  v.check((value) => URL.canParse(value), 'is not a URL.'),
  v.check(isSafeTransport, 'must use https. Only localhost may use http.'),
)
const env = v.pipe(
  object,
  v.record(
    v.pipe(
      v.string(),
      v.regex(variableName, 'is not a name of a variable that a skill may set. Use letters, digits and _.'),
      v.check((name) => !loaderVariable.test(name), 'changes what code a program loads or starts. Remove it.'),
    ),
    expanded,
  ),
  v.maxEntries(itemsMax, tooMany),
)
const headers = v.pipe(
  object,
  v.record(
    v.pipe(v.string(), v.regex(headerName, 'is not a name of an HTTP header.')),
    // oxlint-disable-next-line no-control-regex
    v.pipe(fixed, v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'is not a value of an HTTP header.')),
  ),
  v.maxEntries(itemsMax, tooMany),
  v.check(
    (all) => new Set(Object.keys(all).map((name) => name.toLowerCase())).size === Object.keys(all).length,
    'has a header twice, in another case.',
  ),
)
const args = v.pipe(v.array(expanded, 'must be a list of texts.'), v.maxLength(itemsMax, tooMany))
const [optionalHeaders, optionalArgs] = [v.optional(headers), v.optional(args)]

const Server = v.variant(
  'type',
  [
    v.strictObject({
      type: v.literal('stdio'),
      command,
      args: optionalArgs,
      env: v.optional(env),
      cwd: v.optional(cwd),
    }),
    v.strictObject({ type: v.literal('streamable-http'), url, headers: optionalHeaders }),
    v.strictObject({ type: v.literal('sse'), url, headers: optionalHeaders }),
  ],
  'must be stdio, streamable-http or sse.',
)

const McpJson = v.pipe(
  object,
  v.strictObject({
    $schema: v.literal(schemaId, `must be ${schemaId}.`),
    mcpServers: v.pipe(
      object,
      v.record(
        v.pipe(
          v.string(),
          v.regex(serverName, 'is not a name of a server: 1 to 32 letters, digits, - and _, the first no mark.'),
        ),
        v.pipe(object, Server),
      ),
      v.maxEntries(serversMax, `has more than ${serversMax} servers.`),
    ),
  }),
)

/** An MCP server of a skill: a program that a client starts, or the URL of a server elsewhere. */
export type McpServer = v.InferOutput<typeof Server>
/** MCP servers by name. */
export type McpServers = Readonly<Record<string, McpServer>>

interface McpSource {
  readonly path: string
  /** The content; undefined for a file that is too large to be read. */
  readonly bytes?: Uint8Array
}

/**
 * The problem of a skill's `mcp.json`, as a sentence that names the field; none if the file is valid or missing. The
 * format is Agent Plugins 1.0.0, section 7.2, with limits: 64 KiB, 50 servers.
 */
export function findMcpProblems(files: readonly McpSource[]): PathProblem[] {
  try {
    readMcpServers(files)
    return []
  } catch (error) {
    if (error instanceof McpJsonError) return [{ path: error.path, message: error.message }]
    throw error
  }
}

/**
 * The MCP servers in the `mcp.json` of a skill's files; none if there is no such file, or if it has another format.
 * Throws {@link McpJsonError} for an invalid file.
 */
export function readMcpServers(files: readonly McpSource[]): McpServers {
  const file = files.find(({ path }) => path.length === mcpFile.length && toFoldedPath(path) === mcpFile)
  const value = file && parseMcpJson(file.bytes)
  if (!file || value === undefined) return {}
  if (file.path !== mcpFile)
    throw new McpJsonError(file.path, 'Name it mcp.json: file systems that ignore case load it as that file.')
  const { success, output, issues } = v.safeParse(McpJson, value, firstIssueOnly)
  if (!success) throw new McpJsonError(mcpFile, describeIssue(issues[0]))
  const paths = new Set(files.map(({ path }) => path))
  for (const [name, server] of Object.entries(output.mcpServers)) {
    const problem = server.type === 'stdio' ? findCommandProblem(server.command, paths) : undefined
    if (problem) throw new McpJsonError(mcpFile, `mcpServers.${name}.command: ${problem}`)
  }
  return output.mcpServers
}

/** Whether a file is an `mcp.json` in the format of another client, and so an ordinary file of the skill. */
export function isForeignMcpJson({ path, bytes }: McpSource): boolean {
  if (path !== mcpFile) return false
  try {
    return parseMcpJson(bytes) === undefined
  } catch (error) {
    if (error instanceof McpJsonError) return false
    throw error
  }
}

/** An `mcp.json` that no version may have. The message is a sentence about the field at fault. */
export class McpJsonError extends Error {
  override readonly name = 'McpJsonError'
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}

/** Whether a text may be the name of an MCP server. */
export function isMcpServerName(name: string): boolean {
  return serverName.test(name) && !(name in {})
}

/**
 * Parses the JSON of a configuration of MCP servers. Throws a `SyntaxError` for other text, and {@link McpJsonError} for a
 * key that an object has twice: programs read such documents differently.
 */
export function parseUniqueJson(source: string): unknown {
  const value = parseForeignJson(source, { valuesMax })
  const keys = new Map<string, number>()
  countKeys(value, keys)
  for (const [, token, colon] of source.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/g)) {
    if (colon === undefined) continue
    const key: string = JSON.parse(token!)
    const left = (keys.get(key) ?? 0) - 1
    if (left < 0)
      throw new McpJsonError(mcpFile, `The key ${JSON.stringify(key.slice(0, 64))} occurs twice. Remove one.`)
    keys.set(key, left)
  }
  return value
}

const hostCharactersMax = 40
const commandCharactersMax = 120

/**
 * The type of a server, and the host that it contacts or the command that it starts, with its arguments and the names of
 * its variables: `stdio npx -y @acme/run; env API_KEY`. Takes unchecked values. Of a long host the end is shown, which has
 * the domain; of a long command both ends.
 */
export function describeMcpServer(server: Readonly<Record<string, unknown>>): string {
  const { type, url: address } = server
  const target = typeof address === 'string' ? describeHost(address) : describeCommand(server)
  return [typeof type === 'string' ? type.slice(0, 15) : '', target].filter(Boolean).join(' ')
}

function describeHost(address: string): string {
  const host = URL.parse(address)?.host ?? address
  return host.length > hostCharactersMax ? `…${host.slice(-hostCharactersMax)}` : host
}

function describeCommand({ command: program, args: list, env: variables }: Readonly<Record<string, unknown>>): string {
  const given: unknown[] = Array.isArray(list) ? list : []
  const words = [program, ...given].filter((word) => typeof word === 'string')
  const line = cutMiddle(words.map(toShownWord).join(' '))
  const names = v.is(object, variables) ? Object.keys(variables) : []
  return names.length > 0 ? `${line}; env ${cutMiddle(names.join(', '))}` : line
}

/** Shows an argument: in quotes if it has spaces, with one space in place of several spaces or line ends. */
function toShownWord(word: string): string {
  const line = word.replace(/\s+/g, ' ')
  return line === '' || line.includes(' ') ? JSON.stringify(line) : line
}

function cutMiddle(line: string): string {
  if (line.length <= commandCharactersMax) return line
  const end = commandCharactersMax / 3
  return `${line.slice(0, commandCharactersMax - end - 1)}…${line.slice(-end)}`
}

/**
 * The value of an `mcp.json`. Undefined if the file does not name a `$schema` of Agent Plugins: other clients have
 * files of this name, with other rules. A file that is not JSON counts as a file of Agent Plugins if it contains the
 * host of that schema.
 */
function parseMcpJson(bytes: Uint8Array | undefined): unknown {
  try {
    const value = parseText(bytes)
    const named = v.is(object, value) && Object.hasOwn(value, '$schema') && JSON.stringify(value['$schema'])
    if (typeof named !== 'string' || !namesAgentPlugins(named)) return undefined
    const inherited = findInheritedKey(value)
    if (inherited === undefined) return value
    throw new McpJsonError(mcpFile, `The key '${inherited}' has a meaning of its own in JavaScript. Rename it.`)
  } catch (error) {
    if (bytes && error instanceof McpJsonError && !namesAgentPlugins(Buffer.from(bytes).toString('latin1')))
      return undefined
    throw error
  }
}

function parseText(bytes: Uint8Array | undefined): unknown {
  if (!bytes || bytes.length > bytesMax)
    throw new McpJsonError(mcpFile, `The file is larger than ${bytesMax / 1024} KiB. Make it smaller.`)
  try {
    return parseUniqueJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch (error) {
    if (error instanceof McpJsonError) throw error
    if (error instanceof JsonLimitError) throw new McpJsonError(mcpFile, error.message)
    const sentence = 'The file is not JSON. Write UTF-8 without comments, trailing commas or a byte order mark.'
    throw new McpJsonError(mcpFile, sentence)
  }
}

/** Whether a text has the host of the schemas of Agent Plugins, also in UTF-16 and in the escapes of JSON. */
function namesAgentPlugins(source: string): boolean {
  const plain = source
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/\0/g, '')
    .replaceAll(/\\u00([2-7][\da-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  return /agent-plugins\.org/i.test(plain)
}

function countKeys(value: unknown, keys: Map<string, number>): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value)) {
    if (!Array.isArray(value)) keys.set(key, (keys.get(key) ?? 0) + 1)
    countKeys(child, keys)
  }
}

/** Finds a key such as `__proto__` or `constructor`, which valibot ignores where it should refuse an unknown key. */
function findInheritedKey(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, child] of Object.entries(value)) {
    const found = key in {} ? key : findInheritedKey(child)
    if (found !== undefined) return found
  }
  return undefined
}

function describeIssue(issue: v.InferIssue<typeof McpJson>): string {
  const keys = issue.path?.map(({ key }) => String(key).slice(0, 64)) ?? []
  const field = keys.join('.')
  if (field === '') return 'The file must be a JSON object.'
  if (issue.type !== 'strict_object') return `${field}: ${issue.message}`
  if (issue.expected === 'never') return `${field}: is not a field of the format. Remove it.`
  return `${field}: is missing.`
}

/** The problem of a command that is neither a program that the system finds by its name nor a file of the skill. */
function findCommandProblem(program: string, paths: ReadonlySet<string>): string | undefined {
  const shown = JSON.stringify(program.slice(0, 128))
  if (program.startsWith('./')) {
    if (/(?:^|\/)\.\.(?:\/|$)|\\/.test(program)) return `${shown} leads out of the skill. Name a file of the skill.`
    return paths.has(program.slice(2))
      ? undefined
      : `The skill has no file ${shown}. Add the file, or write its path as in the skill.`
  }
  if (/[\\/:]|^[.~-]/.test(program))
    return `${shown} is a path of another place. Name a program without a path, or a file of the skill as ./FILE.`
  if (/[\s"'`;&|<>$()]/.test(program)) return `${shown} is more than the name of a program. Put arguments into args.`
  return undefined
}

function isSafeTransport(address: string): boolean {
  const target = new URL(address)
  return target.protocol === 'https:' || isLoopbackHost(target)
}
