import type { AccessLists } from './access-lists.ts'
import { addHost } from './hosts.ts'
import { regex, regexWith } from '../text/regex.ts'

/** Finds file paths, hosts and server tools, which look the same in code and commands of every language. */
export function readPlaces(text: string, lists: AccessLists, ownFolder: string): void {
  if (text.includes('/')) {
    if (homeHint.test(text)) readHome(text, lists, ownFolder)
    readAbsolute(text, lists)
  } else if (text.includes('homedir()')) readHome(text, lists, ownFolder)
  if (project.hint.test(text)) readProject(text, lists)
}

/** Every path of {@link homePatterns} contains one of these. */
const homeHint = /~\/|\$\{?HOME|\/(?:home|Users)\/|homedir\(\)|Path\.home\(\)/

/** Paths in prose, between backticks. */
export function readMcpTools(text: string, lists: AccessLists): void {
  if (!text.includes('mcp__')) return
  for (const [tool] of text.matchAll(/\bmcp__[\w-]{1,60}(?<![_-])(?![\w<{*-])/g)) lists.add('tools', tool)
}

const homePatterns = [
  regexWith('g')`(~|\$HOME|\$\{HOME\}|(?<![\w.:/-])/(home|Users)/[\w.<>{}$-]{1,40})/
    (?<path>[\w.@ +-]{1,60}(/[\w.@ +-]{1,60}){0,3})`,
  /(?:homedir\(\)\s{0,3},|Path\.home\(\)\s{0,3}\/)\s{0,3}["']([\w.@ /+-]{1,80})["']/g,
]

function readHome(text: string, lists: AccessLists, ownFolder: string): void {
  for (const pattern of homePatterns) {
    for (const { 1: path } of text.matchAll(pattern)) {
      const area = toHomeArea(toPath(path!), ownFolder)
      if (area) lists.add('files', area)
    }
  }
}

/** Number of path segments that form an area of the home folder: 2 for `~/.config/gh`, 1 for `~/.ssh`. */
const homeDepths: Readonly<Record<string, number>> = {
  '.config': 2,
  '.local': 3,
  '.cache': 2,
  '.claude': 2,
  '.codex': 2,
  '.agents': 2,
  '.openclaw': 2,
  Library: 3,
}

/** In documents, only paths in the macOS library contain spaces. */
function toPath(path: string): string {
  return path.startsWith('Library/Application Support') ? path : path.replace(/ .*$/, '')
}

function toHomeArea(path: string, ownFolder: string): string | undefined {
  const parts = path.split('/').filter(Boolean)
  if (parts.length === 0) return undefined
  // The folder of the installed skill itself.
  if (parts.includes('skills') && !parts.includes('..') && ownFolder !== '' && parts.includes(ownFolder))
    return undefined
  const area = parts.slice(0, homeDepths[parts[0]!] ?? 1).map((part) => part.replace(/[.,:;]+$/, ''))
  return area[0] === '' ? undefined : `~/${area.filter(Boolean).join('/')}`
}

/** Roots of absolute paths, with the number of segments of an area. Paths with other roots are often parts of URLs. */
const roots: Readonly<Record<string, number>> = {
  etc: 2,
  var: 3,
  opt: 2,
  usr: 3,
  tmp: 1,
  root: 2,
  mnt: 2,
  proc: 2,
  sys: 2,
  dev: 2,
  boot: 1,
  srv: 2,
  Library: 2,
  Applications: 2,
  System: 2,
}
const absolute = regexWith('g')`(?<![\w.:~}/<)$*\]-])/(?<folder>etc|var|opt|usr|tmp|
  root|mnt|proc|sys|dev|boot|srv|Library|Applications|System)(/[\w.@+-]{1,60}){0,3}`
/** Folders of programs, and device files that are not storage. */
const nowhere = /^\/(?:usr\/(?:local\/|share\/)?s?bin|dev\/(?:null|zero|stdin|stdout|stderr|tty|fd|tcp|udp|u?random))\b/

function readAbsolute(text: string, lists: AccessLists): void {
  for (const { 0: path, 1: root } of text.matchAll(absolute)) {
    if (nowhere.test(path)) {
      if (path.startsWith('/dev/tcp/') || path.startsWith('/dev/udp/')) addHost(lists, path.split('/')[3] ?? '')
      continue
    }
    const parts = path.split('/').slice(1, 1 + roots[root!]!)
    const area = `/${parts.join('/')}`.replace(/[.,:;]+$/, '')
    // `/usr` and the like alone occur in prose and in lists of folders.
    if (area.includes('/', 1) || root === 'tmp') lists.add('files', area)
  }
}

/** Files of the project or agent host that change their behaviour or contain secrets. */
const project = {
  /** Begins with the character that all of them contain, so that few positions of a text are examined. */
  hint: regex`\.(env|git|npmrc|pypirc|netrc|mcp\.json|vscode|cursor|claude|husky|
    (?<=(CLAUDE|AGENTS|GEMINI|SOUL|MEMORY)\.)md)`,
  match: regexWith('g')`(?<![\w/.*~-])(\./)?(?<path>(\.env(?!\.(example|sample|template|dist))(\.[a-z]{1,12})?|\.npmrc|
      \.pypirc|\.netrc|\.mcp\.json|\.gitconfig|CLAUDE(\.local)?\.md|AGENTS\.md|GEMINI\.md|SOUL\.md|MEMORY\.md|
      \.cursorrules)(?![\w/-])|\.git/(hooks|config)|\.github/(workflows|copilot-instructions\.md)|\.husky|\.vscode|
      \.cursor(?=/)|\.claude/[\w.-]{1,40})`,
}

function readProject(text: string, lists: AccessLists): void {
  for (const { 1: path } of text.matchAll(project.match)) lists.add('files', path!.replace(/[.,:;]+$/, ''))
}
