import type { AccessLists } from './access-lists.ts'
import { numbersOf } from './access-words.ts'
import { regex, regexWith } from '../text/regex.ts'

// Finds hosts, variables, paths and tools of MCP servers, which look the same in code and commands of every language.

const address = regexWith('gi')`\b(https?|wss?|ftps?|sftp|ssh|git|redis|
  postgres(ql)?|mysql|mongodb(\+srv)?)://(?<rest>[^\s"'\x60<>()[\]{}|\\,;]{1,200})`

/** Finds the hosts of URLs in code or instructions. */
export function readAddresses(text: string, lists: AccessLists): void {
  if (!text.includes('://')) return
  for (const { 1: rest, index } of text.matchAll(address)) {
    const before = text.slice(Math.max(0, index - 40), index)
    if (!/xmlns[:\w-]{0,20}=["']?$|\$schema["']?:\s{0,3}["']?$/.test(before)) addHost(lists, toAuthority(rest!))
  }
}

/** Adds the host of a word that a program takes as a URL: scheme, user, port and path are optional. */
export function addHostOf(word: string, lists: AccessLists): void {
  if (word.includes('://')) readAddresses(word, lists)
  else if (!fileEnding.test(word)) addHost(lists, toAuthority(word))
}

/** Adds a host, except placeholders such as `example.com`. */
function addHost(lists: AccessLists, authority: string): void {
  const host = authority.toLowerCase().replace(/\.$/, '')
  if (local.test(host)) lists.add('hosts', 'localhost')
  else if (hostPattern.test(host) && !reserved.test(host)) lists.add('hosts', host)
}

function toAuthority(rest: string): string {
  const authority = /^[^/?#]*/.exec(rest)![0]
  return authority.slice(authority.lastIndexOf('@') + 1).replace(/:[^:]*$/, '')
}

const hostPattern =
  /^(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.){1,126}[a-z][a-z0-9-]{1,30})$/
const local = /^(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|host\.docker\.internal)$/
/**
 * Names that cannot be registered (RFC 2606), and hosts of XML namespaces and schemas, which are never fetched. Other
 * example-like names count, because they may be real.
 */
const reserved = regex`(^|\.)(example\.(com|org|net|edu)|example|test|invalid)$|^(www\.w3\.org|json-schema\.org|
  schema\.org|schemas\.(microsoft\.com|openxmlformats\.org|xmlsoap\.org|android\.com)|purl\.org|ns\.adobe\.com)$`
const fileEnding = regexWith('i')`\.(md|txt|json|ya?ml|sh|py|js|mjs|ts|tsx|jsx|html?|
  csv|xml|toml|zip|gz|tgz|tar|png|jpe?g|gif|svg|webp|pdf|log|conf|cfg|lock|sql|db|out|bin|mp[34]|wav|pem|key|crt)$`

/** How programs in many languages read an environment variable. */
const variable = regexWith('g')`(\b(process|import\.meta|Bun)\.env(\.|\??\.?\[\s{0,3}["'\x60])|
  \bDeno\.env\.(get|has)\(\s{0,3}["'\x60]|\benviron(\.get|\.pop|\.setdefault)\(\s{0,3}["']|
  \benviron\s{0,2}\[\s{0,3}["'](?!\w{1,64}["']\s{0,3}\]\s{0,3}=[^=])|["'](?=\w{2,64}["'] (not )?in os\.environ\b)|
  \b[gG]et[eE]nv\(\s{0,3}["']|\bgetenv\(\s{0,3}["']|\bLookupEnv\(\s{0,3}"|\benv::var(_os)?\(\s{0,3}"|
  \bENV(\[|\.fetch\(|\.key\?\()\s{0,3}["']|\$[eE][nN][vV]:|\$\{\{ {0,3}secrets\.)(?<name>[A-Z][A-Z0-9_]{1,63})`
const unpacked = /\{([\w\s,:=|"']{1,500})\} {0,3}= {0,3}process\.env\b/g
const whole = regex`\bdict\(os\.environ\)|\bos\.environ\.items\(\)|
  \bJSON\.stringify\(process\.env\b|\bObject\.(entries|keys|values)\(process\.env\b|\bDeno\.env\.toObject\(`

/** Finds the environment variables that a program reads. */
export function readVariables(code: string, lists: AccessLists): void {
  if (!/env|secrets\./i.test(code)) return
  for (const { 1: name } of code.matchAll(variable)) lists.addVariable(name!)
  if (code.includes('process.env')) {
    for (const { 1: names } of code.matchAll(unpacked))
      for (const [name] of names!.matchAll(/\b[A-Z][A-Z0-9_]{1,63}\b/g)) lists.addVariable(name)
  }
  if (whole.test(code)) lists.add('environment', '*')
}

/** Finds the tools of MCP servers. */
export function readMcpTools(text: string, lists: AccessLists): void {
  if (!text.includes('mcp__')) return
  for (const [tool] of text.matchAll(/\bmcp__[\w-]{1,60}(?<![_-])(?![\w<{*-])/g)) lists.add('tools', tool)
}

/** Finds paths of files, and hosts in paths such as `/dev/tcp/host/80`. */
export function readReferencedPlaces(text: string, lists: AccessLists): void {
  if (homeHint.test(text)) readHome(text, lists)
  if (text.includes('/')) readAbsolute(text, lists)
  if (!projectHint.test(text)) return
  for (const { 1: path } of text.matchAll(project)) lists.add('files', path!.replace(/[.,:;]+$/, ''))
}

/** A fast check: every path in the home folder contains a match. */
const homeHint = /~\/|\$\{?HOME|\/(?:home|Users)\/|homedir\(\)|Path\.home\(\)/
const home = regexWith('g')`(~/|\$HOME/|\$\{HOME\}/|(?<![\w.:/-])/(home|Users)/[\w.<>{}$-]{1,40}/|
  homedir\(\)\s{0,3},\s{0,3}["']|Path\.home\(\)\s{0,3}/\s{0,3}["'])(?<path>[\w.@ +-]{1,60}(/[\w.@ +-]{1,60}){0,3})`
/** How many segments of a path in the home folder are listed: 2 for `~/.config/gh`. Default: 1, as for `~/.ssh`. */
const homeDepths = numbersOf('.config 2 .local 3 .cache 2 .claude 2 .codex 2 .agents 2 .openclaw 2 Library 3')

function readHome(text: string, lists: AccessLists): void {
  for (const { 1: found } of text.matchAll(home)) {
    // In documents, only paths in the macOS library contain spaces.
    const path = found!.startsWith('Library/Application Support') ? found! : found!.replace(/ .*$/, '')
    const parts = path.split('/').filter(Boolean)
    // The folder of the installed skill is not listed.
    if (parts.includes('skills') && !parts.includes('..') && lists.ownFolder && parts.includes(lists.ownFolder))
      continue
    const area = parts.slice(0, homeDepths.get(parts[0] ?? '') ?? 1).map((part) => part.replace(/[.,:;]+$/, ''))
    if (area[0]) lists.add('files', `~/${area.filter(Boolean).join('/')}`)
  }
}

/** Roots of absolute paths, with the number of segments to list. Paths with other roots are often in URLs. */
const roots =
  numbersOf(`etc 2 var 3 opt 2 usr 3 tmp 1 root 2 mnt 2 proc 2 sys 2 dev 2 boot 1 srv 2 Library 2 Applications 2
  System 2`)
const absolute = regexWith('g')`(?<![\w.:~}/<)$*\]-])/(?<folder>${[...roots.keys()]})(/[\w.@+-]{1,60}){0,3}`
/** Folders of programs, and devices without stored data: paths that are not listed. */
const nowhere = /^\/(?:usr\/(?:local\/|share\/)?s?bin|dev\/(?:null|zero|stdin|stdout|stderr|tty|fd|tcp|udp|u?random))\b/

function readAbsolute(text: string, lists: AccessLists): void {
  for (const { 0: path, 1: root } of text.matchAll(absolute)) {
    if (/^\/dev\/(?:tcp|udp)\//.test(path)) addHost(lists, path.split('/')[3] ?? '')
    if (nowhere.test(path)) continue
    const parts = path.split('/').slice(1, 1 + roots.get(root!)!)
    const area = `/${parts.join('/')}`.replace(/[.,:;]+$/, '')
    // A root alone, such as `/usr`, is not listed, because prose and lists of folders name it.
    if (area.includes('/', 1) || root === 'tmp') lists.add('files', area)
  }
}

/**
 * Files that change how the project or agent host behaves, or that contain secrets. `projectHint` begins with the dot
 * that the name of every such file contains, so that few positions of a text are examined.
 */
const projectHint = regex`\.(env|git|npmrc|pypirc|netrc|mcp\.json|vscode|cursor|claude|husky|
  (?<=(CLAUDE(\.local)?|AGENTS|GEMINI|SOUL|MEMORY)\.)md)`
const project = regexWith(
  'g',
)`(?<![\w/.*~-])(\./)?(?<path>(\.env(?!\.(example|sample|template|dist))(\.[a-z]{1,12})?|\.npmrc|
  \.pypirc|\.netrc|\.mcp\.json|\.gitconfig|CLAUDE(\.local)?\.md|AGENTS\.md|GEMINI\.md|SOUL\.md|MEMORY\.md|
  \.cursorrules)(?![\w/-])|\.git/(hooks|config)|\.github/(workflows|copilot-instructions\.md)|\.husky|\.vscode|
  \.cursor(?=/)|\.claude/[\w.-]{1,40})`
