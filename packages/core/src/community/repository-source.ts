import { RegistryError } from '@skillstead/protocol'
import { invalidField } from '../kernel/field-errors.ts'

/** The location of an external skill, the same for every notation of it. */
export interface ExternalSource {
  readonly registry: 'skills.sh' | 'github'
  readonly name: string
  readonly author: string
  /** The canonical URL of the source; it can be parsed again and opened in a browser. */
  readonly url: string
  /** The repository's URL in lower case; '' if there is none. */
  readonly repoUrl: string
  /** Raw URLs of its SKILL.md, most likely first. */
  readonly candidates: readonly string[]
  /** The last candidate is the repository's root file, which only counts if it has this name in its frontmatter. */
  readonly rootIfNamed?: string
}

/** A location in a repository: a folder, a file, or a skill known only by name. */
export interface RepoPlace {
  readonly host: 'github.com' | 'gitlab.com'
  readonly project: readonly string[]
  /** A branch, tag or commit; `HEAD` is the tip of the default branch. */
  readonly ref: string
  /** Empty if `skill` is given. */
  readonly path: readonly string[]
  /** Whether the path is that of a file. */
  readonly isFile?: boolean
  readonly skill?: string | undefined
}

/** Folders in which existing clients store skills in a repository, most likely first; `*` is the skill's name. */
const skillFolders = [
  'skills/*',
  '*',
  '.claude/skills/*',
  '.agents/skills/*',
  'skills/.curated/*',
  '.github/skills/*',
  '.codex/skills/*',
  'plugins/*/skills/*',
]

/** The source of a location on GitHub or GitLab. */
export function toRepositorySource(place: RepoPlace): ExternalSource {
  const { host, project, skill } = place
  const repoUrl = `https://${host}/${project.join('/')}`.toLowerCase()
  const raw = (path: readonly string[]) => toRawUrl(place, path)
  const common = { registry: host === 'github.com' ? 'github' : 'skills.sh', author: project[0]!, repoUrl } as const
  if (skill !== undefined) {
    const folders = skillFolders.map((folder) => folder.replaceAll('*', skill).split('/'))
    const candidates = [...folders, []].map((folder) => raw([...folder, 'SKILL.md']))
    return { ...common, name: skill, url: toPageUrl(place, repoUrl), candidates, rootIfNamed: skill }
  }
  const { folder, file } = splitPath(place)
  const files = file === undefined ? ['SKILL.md', 'skill.md'] : [file]
  return {
    ...common,
    name: (file && !isSkillMdFile(file) && file.replace(/\.\w+$/, '')) || folder.at(-1) || project.at(-1)!,
    url: toPageUrl(place, repoUrl),
    candidates: files.map((name) => raw([...folder, name])),
  }
}

function splitPath({ path, isFile }: RepoPlace): { folder: readonly string[]; file?: string } {
  const last = path.at(-1)
  return last !== undefined && (isFile || isSkillMdFile(last))
    ? { folder: path.slice(0, -1), file: last }
    : { folder: path }
}

function toRawUrl({ host, project, ref }: RepoPlace, path: readonly string[]): string {
  const rest = encodePath([...ref.split('/'), ...path])
  const repository = project.join('/').toLowerCase()
  return host === 'github.com'
    ? `https://raw.githubusercontent.com/${repository}/${rest}`
    : `https://gitlab.com/${repository}/-/raw/${rest}`
}

/** The page of a location: the folder for a SKILL.md, and a fragment for a skill known by name, as in `npx skills`. */
function toPageUrl(place: RepoPlace, repoUrl: string): string {
  const { folder, file } = splitPath(place)
  const isDocument = file !== undefined && !isSkillMdFile(file)
  const path = isDocument ? place.path : folder
  const ref = place.ref === 'HEAD' ? '' : encodePath(place.ref.split('/'))
  if (place.skill !== undefined) return `${repoUrl}#${ref}@${place.skill}`
  if (path.length === 0 && ref === '') return repoUrl
  const kind = isDocument ? 'blob' : 'tree'
  const dash = place.host === 'gitlab.com' ? '/-' : ''
  return `${repoUrl}${dash}/${kind}/${[ref || 'HEAD', encodePath(path)].filter(Boolean).join('/')}`
}

function isSkillMdFile(file: string): boolean {
  return file.toLowerCase() === 'skill.md'
}

function encodePath(path: readonly string[]): string {
  return path.map(encodeURIComponent).join('/')
}

/** A parsed http(s) URL without hidden parts. */
export interface SourceUrl {
  readonly url: URL
  /** The decoded segments of the path as written: the URL parser would silently resolve `..`. */
  readonly segments: readonly string[]
  /** The fragment of the URL, decoded, without the `#`. */
  readonly hash: string
}

const segmentsMax = 32

/** Parses an http(s) URL. Throws `invalid_request` for other text, and for URLs that mislead readers. */
export function parseSourceUrl(text: string): SourceUrl {
  // The URL parser would silently drop line breaks and change backslashes.
  if (/[\s\p{C}\\]/u.test(text)) throw refuseSourceUrl('must not contain spaces, backslashes or control characters')
  const [, scheme, authority, path = '', hash = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/is.exec(text) ?? []
  if (scheme === undefined || authority === undefined)
    throw refuseSourceUrl('must be a URL that begins with https://, or a source such as owner/repo@skill')
  if (!/^https?$/i.test(scheme)) throw refuseSourceUrl('must begin with https:// or http://')
  // The URL parser skips further slashes, and takes the first segment as host.
  if (authority === '') throw refuseSourceUrl('must have its host directly after the two slashes')
  if (authority.includes('@')) throw refuseSourceUrl('must not contain a username or password')
  if (authority.includes('%')) throw refuseSourceUrl('must not contain percent-encoding in its host')
  if (!URL.canParse(text)) throw refuseSourceUrl('is not a valid URL')
  const segments = parsePathSegments(path)
  return { url: new URL(text), segments, hash: decodeUrlPart(hash) }
}

/** The decoded segments of a path. Throws for `..`, encoded slashes and double encoding. */
export function parsePathSegments(path: string): string[] {
  const written = path.replace(/^\//, '').replace(/\/$/, '')
  if (written === '') return []
  const segments = written.split('/').map(decodeUrlPart)
  if (segments.length > segmentsMax) throw refuseSourceUrl(`must have at most ${segmentsMax} segments`)
  if (segments.some(isBadSegment))
    throw refuseSourceUrl('must not contain empty segments, `.`, `..`, or encoded slashes and special characters')
  return segments
}

function isBadSegment(segment: string): boolean {
  return segment === '' || segment === '.' || segment === '..' || /[\p{C}/\\%]|[^\S ]/u.test(segment)
}

/** The error for a refused URL; the message continues after `url`. */
export function refuseSourceUrl(message: string): RegistryError {
  return invalidField('url', message)
}

function decodeUrlPart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw refuseSourceUrl('contains an invalid percent-encoding')
  }
}
