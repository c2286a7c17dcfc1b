import type { AccessLists } from './access-lists.ts'
import { addHost } from './hosts.ts'

/** Code and commands name places of the file system, hosts and tools of servers alike, whatever the language. */
export function readPlaces(text: string, lists: AccessLists, ownFolder: string): void {
  if (text.includes('/')) {
    if (homeHint.test(text)) readHome(text, lists, ownFolder)
    readAbsolute(text, lists)
  } else if (text.includes('homedir()')) readHome(text, lists, ownFolder)
  if (project.hint.test(text)) readProject(text, lists)
}

/** One of these is in every place of {@link homePatterns}. */
const homeHint = /~\/|\$\{?HOME|\/(?:home|Users)\/|homedir\(\)|Path\.home\(\)/

/** The same in prose, where it stands in marks of code. */
export function readMcpTools(text: string, lists: AccessLists): void {
  if (!text.includes('mcp__')) return
  for (const [tool] of text.matchAll(/\bmcp__[\w-]{1,60}(?<![_-])(?![\w<{*-])/g)) lists.add('tools', tool)
}

const homePatterns = [
  /(?:~|\$HOME|\$\{HOME\}|(?<![\w.:/-])\/(?:home|Users)\/[\w.<>{}$-]{1,40})\/([\w.@ +-]{1,60}(?:\/[\w.@ +-]{1,60}){0,3})/g,
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

/** How deep an area of the home folder goes: `~/.config/gh` is one, `~/.ssh` is one. */
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

/** Only in the library of macOS have names spaces in documents. */
function toPath(path: string): string {
  return path.startsWith('Library/Application Support') ? path : path.replace(/ .*$/, '')
}

function toHomeArea(path: string, ownFolder: string): string | undefined {
  const parts = path.split('/').filter(Boolean)
  if (parts.length === 0) return undefined
  // Where the skill itself lies once it is installed.
  if (parts.includes('skills') && !parts.includes('..') && ownFolder !== '' && parts.includes(ownFolder))
    return undefined
  const area = parts.slice(0, homeDepths[parts[0]!] ?? 1).map((part) => part.replace(/[.,:;]+$/, ''))
  return area[0] === '' ? undefined : `~/${area.filter(Boolean).join('/')}`
}

/** Roots of absolute paths, with how deep an area goes. Others are as often paths of addresses. */
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
const absolute =
  /(?<![\w.:~}/<)$*\]-])\/(etc|var|opt|usr|tmp|root|mnt|proc|sys|dev|boot|srv|Library|Applications|System)(?:\/[\w.@+-]{1,60}){0,3}/g
/** Where programs lie, and files that are none. */
const nowhere = /^\/(?:usr\/(?:local\/|share\/)?s?bin|dev\/(?:null|zero|stdin|stdout|stderr|tty|fd|tcp|udp|u?random))\b/

function readAbsolute(text: string, lists: AccessLists): void {
  for (const { 0: path, 1: root } of text.matchAll(absolute)) {
    if (nowhere.test(path)) {
      if (path.startsWith('/dev/tcp/') || path.startsWith('/dev/udp/')) addHost(lists, path.split('/')[3] ?? '')
      continue
    }
    const parts = path.split('/').slice(1, 1 + roots[root!]!)
    const area = `/${parts.join('/')}`.replace(/[.,:;]+$/, '')
    // `/usr` and the like alone stand in prose and in lists of folders.
    if (area.includes('/', 1) || root === 'tmp') lists.add('files', area)
  }
}

/** Files of the project or of the agent host that change how either behaves, or hold secrets. */
const project = {
  /** Begins with the one character that all have in common, so that few places of a text are looked at. */
  hint: /\.(?:env|git|npmrc|pypirc|netrc|mcp\.json|vscode|cursor|claude|husky|(?<=(?:CLAUDE|AGENTS|GEMINI|SOUL|MEMORY)\.)md)/,
  match:
    /(?<![\w/.*~-])(?:\.\/)?((?:\.env(?!\.(?:example|sample|template|dist))(?:\.[a-z]{1,12})?|\.npmrc|\.pypirc|\.netrc|\.mcp\.json|\.gitconfig|CLAUDE(?:\.local)?\.md|AGENTS\.md|GEMINI\.md|SOUL\.md|MEMORY\.md|\.cursorrules)(?![\w/-])|\.git\/(?:hooks|config)|\.github\/(?:workflows|copilot-instructions\.md)|\.husky|\.vscode|\.cursor(?=\/)|\.claude\/[\w.-]{1,40})/g,
}

function readProject(text: string, lists: AccessLists): void {
  for (const { 1: path } of text.matchAll(project.match)) lists.add('files', path!.replace(/[.,:;]+$/, ''))
}
