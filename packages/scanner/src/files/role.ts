import type { fileRoles } from '@skillstead/protocol'
import { regexWith } from '../text/regex.ts'

export type FileRole = (typeof fileRoles)[number]

const isMarkdownPattern = /\.(?:md|mdx|markdown|mdc)$/i

/** Whether a file is read as Markdown. */
export function isMarkdown(path: string): boolean {
  return isMarkdownPattern.test(path)
}

/** Roles by path; the first match counts. The role changes if instructions mention the file. */
const places: readonly { readonly path: RegExp; readonly role: FileRole }[] = [
  { path: /(?:^|\/)SKILL\.md$/i, role: 'instruction' },
  // Hosts show the description to a model before any file; see security/metadata-scan.ts.
  { path: /^metadata:changelog$/, role: 'reference' },
  { path: /^metadata:/, role: 'instruction' },
  {
    path: /(?:^|\/)(?:node_modules|vendor|vendored|third[_-]party|site-packages|bower_components)\//i,
    role: 'vendored',
  },
  { path: /(?:\.min\.(?:js|css)|\.bundle\.js|\.map)$/i, role: 'vendored' },
  { path: /(?:^|\/)(?:licen[cs]e|copying|notice|third[_-]party[\w-]*)(?:\.\w{2,4})?$/i, role: 'vendored' },
  { path: /(?:^|\/)(?:package-lock\.json|[\w.-]+\.lock|[\w.-]+-lock\.(?:ya?ml|json)|go\.sum)$/i, role: 'data' },
  { path: /(?:^|\/)(?:tests?|__tests__|specs?|testdata|fixtures?|evals?|__mocks__|mocks)\//i, role: 'test' },
  { path: /(?:^|\/)(?:test_[\w.-]+|[\w.-]+[._-](?:test|spec)s?)\.\w{1,5}$/i, role: 'test' },
  // Files that agents and package managers run automatically.
  {
    path: /(?:^|\/)(?:package|settings(?:\.local)?|hooks|\.?mcp|plugin|devcontainer|tasks|launch)\.json$/i,
    role: 'script',
  },
  { path: /(?:^|\/)(?:\.github\/(?:workflows|actions)\/|\.git\/hooks\/|\.husky\/)/i, role: 'script' },
  {
    path: /(?:^|\/)(?:\.gitlab-ci|\.pre-commit-config|action|playbook|taskfile|\.?mise|deno|composer|pom|conda|environment)\.(?:ya?ml|toml|jsonc?|xml)$/i,
    role: 'script',
  },
  { path: /\.ipynb$/i, role: 'script' },
  {
    path: /(?:^|\/)(?:makefile|dockerfile|containerfile|justfile|rakefile|procfile)$/i,
    role: 'script',
  },
  { path: /(?:^|\/)(?:docker-)?compose[\w.-]*\.ya?ml$/i, role: 'script' },
  { path: /(?:^|\/)(?:pyproject\.toml|requirements[\w.-]*\.txt|\.npmrc|\.pypirc|pip\.conf)$/i, role: 'script' },
  { path: /(?:^|\/)(?:claude|agents|gemini|\.cursorrules|copilot-instructions)(?:\.md)?$/i, role: 'instruction' },
  { path: /^(?:commands|agents|prompts|rules)\/[^/]+\.mdc?$/i, role: 'instruction' },
  { path: /\.(?:md|mdx|markdown|mdc|txt|rst|adoc|html?)$/i, role: 'reference' },
  // Drawings and the parts of documents contain text for readers.
  { path: /\.svg$|\.(?:docx|pptx|xlsx|od[tsp]|epub)!\/.*\.x?(?:ht)?ml$/i, role: 'reference' },
  {
    path: /\.(?:json[c5l]?|ya?ml|toml|ini|cfg|xml|xsd|dtd|csv|tsv|css|geojson|po|ics|tex|bib|log)$/i,
    role: 'data',
  },
]

/** Configuration files of programs. */
const settingsPattern =
  /(?:^|\/)[\w.-]{0,40}(?:config|configuration|settings|conf|env)\.(?:json[c5]?|ya?ml|toml|ini|cfg)$/i
const licencePattern = /(?:^|\/)(?:licen[cs]e|copying|notice)/i
/** Files that no interpreter reads. */
const textPlaces = places.slice(-3)

/** What may be a path with a dot inside, with the characters before that dot in a group. Longer paths are cut. */
const mentionPattern = /\.(?<=([\w./-]{1,200}))[\w./-]{1,200}/g

/** Matches the text before the name of a file that an interpreter runs. */
const runPattern = regexWith('i')`(^|[\s"'\x60(/])((ba|z|da|k)?sh|python[\d.]{0,4}|perl|ruby|php|pwsh|powershell|bun
  |deno run|(?<=["'\x60\n;&|]\s?)(source|node))\s+(-\S+\s+){0,3}["']?$`
const runCharactersMax = 60

interface NamedFile {
  readonly path: string
  readonly text: string
}

/**
 * Determines the role of each file, by its path and by the files that mention it: SKILL.md and the Markdown files that
 * it refers to are instructions; a file that instructions mention no longer counts as test, data or vendored code.
 */
export function toRoles(files: readonly NamedFile[]): Map<string, FileRole> {
  const roles = new Map(files.map(({ path, text }) => [path, toPlaceRole(path, text)]))
  if (files.length === 1) return roles
  const byName = Map.groupBy(files, ({ path }) => path.split('/').at(-1)!.toLowerCase())
  const queue = new Set(files.filter(({ path }) => roles.get(path) === 'instruction'))
  for (const { text } of queue) {
    for (const { file, isRun } of findMentionedFiles(text, byName)) {
      const role = isRun && !isMarkdown(file.path) ? 'script' : toUsedRole(file.path, roles.get(file.path)!)
      if (role === 'instruction') queue.add(file)
      // A file that is run in one place may be read in another.
      if (roles.get(file.path) !== 'script') roles.set(file.path, role)
    }
  }
  return roles
}

/** The files to which the paths in a text lead. A path may be relative to any folder. */
function* findMentionedFiles(
  text: string,
  byName: ReadonlyMap<string, readonly NamedFile[]>,
): Generator<{ readonly file: NamedFile; readonly isRun: boolean }> {
  for (const { 0: after, 1: before = '', index } of text.matchAll(mentionPattern)) {
    const path = `${before}${after.slice(1)}`
      .toLowerCase()
      .replace(/^(?:\.{0,2}\/)+/, '')
      .replace(/\.$/, '')
    for (const file of byName.get(path.slice(path.lastIndexOf('/') + 1)) ?? []) {
      if (!`/${file.path.toLowerCase()}`.endsWith(`/${path}`)) continue
      const start = index + 1 - before.length
      yield { file, isRun: runPattern.test(text.slice(Math.max(0, start - runCharactersMax), start)) }
    }
  }
}

function toPlaceRole(path: string, text: string): FileRole {
  const place = places.find((each) => each.path.test(path))
  if (place) return place.role
  return text.startsWith('#!') || /\.\w{1,8}$/.test(path) ? 'script' : 'reference'
}

/** The role of a file that instructions mention. */
function toUsedRole(path: string, role: FileRole): FileRole {
  if (isMarkdown(path) && !licencePattern.test(path)) return 'instruction'
  if (role === 'data') return settingsPattern.test(path) ? 'script' : 'data'
  if ((role !== 'test' && role !== 'vendored') || licencePattern.test(path)) return role
  return textPlaces.find((each) => each.path.test(path))?.role ?? 'script'
}
