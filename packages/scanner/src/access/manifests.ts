import { JsonLimitError, isRecord, parseForeignJson } from '@skillstead/protocol'
import { describeMcpServer } from '@skillstead/skill-format/archives'
import type { AccessLists } from './access-lists.ts'
import { addPackage } from './packages.ts'
import { readCommandWords } from './read-shell.ts'
import { readAddresses } from './references.ts'

/** Reads the dependencies of a package.json. */
export function readPackageJson(text: string, lists: AccessLists): void {
  const json = parseManifestJson(text, lists)
  if (!isRecord(json)) return
  for (const field of ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']) {
    const packages = json[field]
    if (isRecord(packages)) for (const name of Object.keys(packages)) addPackage(lists, 'npm', name)
  }
}

/** Reads the lines of a requirements.txt. */
export function readRequirements(text: string, lists: AccessLists): void {
  for (const line of text.split('\n', 5000)) {
    const requirement = line
      .slice(0, 400)
      .replace(/\s#.*$/, '')
      .trim()
    if (requirement !== '' && !/^[#-]/.test(requirement)) addPackage(lists, 'pypi', requirement)
    readAddresses(requirement, lists)
  }
}

/** Reads the arrays of dependencies in a pyproject.toml, or in a script's inline metadata (PEP 723). */
export function readPyproject(text: string, lists: AccessLists): void {
  for (const { 1: list } of text.matchAll(
    /^[ #]{0,3}(?:dependencies|dev|test|optional)\s{0,4}=\s{0,4}\[([^\]]{0,8000})/gm,
  )) {
    for (const { 2: requirement } of list!.matchAll(/(["'])([^"'\n]{1,200})\1/g))
      addPackage(lists, 'pypi', requirement!)
  }
}

/** Reads the dependencies in a Python script's inline metadata: `# /// script` and the comment lines after it. */
export function readInlineMetadata(text: string, lists: AccessLists): void {
  const begin = text.indexOf('# /// script')
  if (begin === -1) return
  const end = text.indexOf('\n# ///', begin + 1)
  // Remove extras, as in `requests[socks]`, because their bracket would end the list of dependencies.
  const block = text.slice(begin, end === -1 ? begin + 4000 : end).replace(/(?<=[\w])\[[\w, -]{0,80}\]/g, '')
  readPyproject(block, lists)
}

/** Lists the servers in the `mcp.json` of a skill by name, with what each starts or contacts. */
export function readServerNames(text: string, lists: AccessLists): void {
  const json = parseManifestJson(text, lists)
  const servers = isRecord(json) ? json['mcpServers'] : undefined
  if (!isRecord(servers)) return
  for (const [name, server] of Object.entries(servers))
    if (isRecord(server)) lists.add('tools', `mcp__${name.slice(0, 32)} (${describeMcpServer(server)})`)
}

/** Reads tool servers from an agent host's configuration: the command or URL of each, and its variables. */
export function readServers(text: string, lists: AccessLists): void {
  const json = parseManifestJson(text, lists)
  if (isRecord(json)) readServer(json, lists, 0)
}

function readServer(value: Record<string, unknown>, lists: AccessLists, depth: number): void {
  const { command, args, env, url, serverUrl } = value
  if (typeof command === 'string') {
    const words = Array.isArray(args) ? args.filter((arg) => typeof arg === 'string') : []
    readCommandWords([...command.split(/\s+/), ...words.slice(0, 50)], lists)
  }
  if (isRecord(env)) for (const name of Object.keys(env).slice(0, 100)) lists.addVariable(name)
  for (const address of [url, serverUrl]) if (typeof address === 'string') readAddresses(address, lists)
  if (depth === 6) return
  for (const child of Object.values(value)) {
    for (const one of Array.isArray(child) ? child.slice(0, 200) : [child])
      if (isRecord(one)) readServer(one, lists, depth + 1)
  }
}

function parseManifestJson(text: string, lists: AccessLists): unknown {
  try {
    return parseForeignJson(text)
  } catch (error) {
    return error instanceof JsonLimitError ? lists.addCut('large JSON was not read', text) : undefined
  }
}
