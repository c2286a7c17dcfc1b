import { RegistryError } from '@skillstead/protocol'
import { invalidField } from '../kernel/field-errors.ts'

/**
 * Parses a URL or an argument of `npx skills add`: `owner/repo`, `owner/repo/path`, `owner/repo@skill`, `github:...`,
 * `git@github.com:owner/repo.git`, pages and raw files of GitHub, gists, GitLab and skills.sh, or any other http(s) URL
 * of a SKILL.md or its folder. Throws `invalid_request` that names `url`.
 */
export function parseSource(text: string): ExternalSource {
  const shorthand = parseShorthand(text.trim())
  if (shorthand) return toRepositorySource(shorthand)
  const address = parseSourceUrl(text.trim())
  const read = hosts.get(address.url.host) ?? readPlainUrl
  return read(address)
}

/** The canonical URL of a GitHub repository, or undefined for anything else. */
export function parseRepoUrl(text: string): { repoUrl: string; owner: string } | undefined {
  const [, owner, repo] = /^https:\/\/(?:www\.)?github\.com\/([\w-]+)\/([\w.-]+?)(?:\.git)?\/?$/i.exec(text) ?? []
  if (owner === undefined || repo === undefined || !isGithubUser(owner) || !isGithubRepository(repo)) return undefined
  return { repoUrl: `https://github.com/${owner}/${repo}`.toLowerCase(), owner }
}

const hosts: ReadonlyMap<string, (address: SourceUrl) => ExternalSource> = new Map(
  Object.entries({
    'github.com': readGithubPage,
    'www.github.com': readGithubPage,
    'raw.githubusercontent.com': readRawGithubFile,
    'gist.github.com': readGist,
    'gist.githubusercontent.com': readGist,
    'gitlab.com': readGitlabPage,
    'skills.sh': readSkillsShPage,
    'www.skills.sh': readSkillsShPage,
  }),
)

const shorthandPattern =
  /^(?:github:)?([\w-]+)\/([\w.-]+)((?:\/[^@#?:]*)?)(?:@([^#?:]+))?(?:#([^@?:]*)(?:@([^?:]+))?)?$/
const sshPattern = /^(?:git@|ssh:\/\/git@)(github\.com|gitlab\.com)[:/]([\w./-]+?)(?:\.git)?\/?(?:#([^@?:]*))?$/

function parseShorthand(text: string): RepoPlace | undefined {
  const ssh = sshPattern.exec(text)
  if (ssh) return toProjectPlace(ssh[1] === 'gitlab.com' ? ssh[1] : 'github.com', parsePathSegments(ssh[2]!), ssh[3])
  if (text.startsWith('gitlab:'))
    return toProjectPlace('gitlab.com', parsePathSegments(text.slice('gitlab:'.length)), undefined)
  const [, owner, repo, path, skill, ref, skillOfRef] = shorthandPattern.exec(text) ?? []
  if (owner === undefined || repo === undefined) return undefined
  const place = { ...toProjectPlace('github.com', [owner, repo], ref), path: parsePathSegments(path ?? '') }
  const named = readSkillParameter(skillOfRef ?? skill)
  if (named && place.path.length > 0) throw refuseSourceUrl('names both a folder and a skill. Specify one of them')
  return { ...place, skill: named }
}

function toProjectPlace(host: RepoPlace['host'], segments: readonly string[], ref: string | undefined): RepoPlace {
  const project = segments.map((segment, index) =>
    index === segments.length - 1 ? segment.replace(/\.git$/, '') : segment,
  )
  const [owner = '', repo = ''] = [project[0], project.at(-1)]
  const isWhole = host === 'github.com' ? project.length === 2 && isGithubUser(owner) : project.length >= 2
  if (!isWhole || !project.every(isGithubRepository) || repo === '')
    throw refuseSourceUrl(`is not a repository on ${host}. Write owner/repo`)
  return { host, project, ref: parsePathSegments(ref ?? '').join('/') || 'HEAD', path: [] }
}

function readGithubPage(address: SourceUrl): ExternalSource {
  const [owner = '', repo = '', kind, ...rest] = address.segments
  const [ref, skill] = address.hash === 'readme' ? [] : address.hash.split('@', 2)
  if (kind === undefined)
    return toRepositorySource({ ...toProjectPlace('github.com', [owner, repo], ref), skill: readSkillParameter(skill) })
  if (!['tree', 'blob', 'raw'].includes(kind) || rest.length === 0)
    throw refuseSourceUrl('is a GitHub page without a skill. Specify a repository, a folder or a SKILL.md')
  return toRepositorySource(toPlaceOfUrl('github.com', [owner, repo], rest, kind !== 'tree'))
}

function readRawGithubFile({ segments }: SourceUrl): ExternalSource {
  const [owner = '', repo = '', ...rest] = segments
  if (rest.length < 2) throw refuseSourceUrl('names no file. Specify the raw URL of a SKILL.md')
  return toRepositorySource(toPlaceOfUrl('github.com', [owner, repo], rest, true))
}

function readGitlabPage({ segments }: SourceUrl): ExternalSource {
  const dash = segments.indexOf('-')
  if (dash === -1) return toRepositorySource(toProjectPlace('gitlab.com', segments, undefined))
  const [kind = '', ...rest] = segments.slice(dash + 1)
  if (!['tree', 'blob', 'raw'].includes(kind) || rest.length === 0)
    throw refuseSourceUrl('is a GitLab page without a skill. Specify a repository, a folder or a SKILL.md')
  return toRepositorySource(toPlaceOfUrl('gitlab.com', segments.slice(0, dash), rest, kind !== 'tree'))
}

/** The place after `tree`, `blob` or `raw` in a URL: a branch, tag or commit, then the path. */
function toPlaceOfUrl(
  host: RepoPlace['host'],
  project: readonly string[],
  rest: readonly string[],
  isFile: boolean,
): RepoPlace {
  const [ref = 'HEAD', ...path] = rest[0] === 'refs' && rest[1] === 'heads' ? rest.slice(2) : rest
  return { ...toProjectPlace(host, project, ref), path, isFile }
}

function readSkillsShPage({ segments }: SourceUrl): ExternalSource {
  const [owner = '', repo = '', skill, ...more] = segments
  if (more.length > 0 || repo === '')
    throw refuseSourceUrl('is not the page of a skill: https://skills.sh/owner/repo/skill')
  const place = toProjectPlace('github.com', [owner, repo], undefined)
  const page = [...place.project.map((part) => part.toLowerCase()), ...(skill ? [encodeURIComponent(skill)] : [])]
  return {
    ...toRepositorySource({ ...place, skill: readSkillParameter(skill) }),
    registry: 'skills.sh',
    url: `https://skills.sh/${page.join('/')}`,
  }
}

/** `/<user>/<id>` is a page, `/<user>/<id>/raw[/<commit>][/<file>]` a file. */
function readGist({ segments }: SourceUrl): ExternalSource {
  const [user = '', id = '', kind, ...rest] = segments
  if (!isGithubUser(user) || !/^[0-9a-f]{5,64}$/i.test(id) || (kind !== undefined && kind !== 'raw') || rest.length > 2)
    throw refuseSourceUrl('is not a gist: https://gist.github.com/user/id')
  const page = `https://gist.github.com/${user.toLowerCase()}/${id}`
  const raw = `https://gist.githubusercontent.com/${user.toLowerCase()}/${id}/raw`
  const file = [raw, ...rest.map(encodeURIComponent)].join('/')
  const hasFile = rest.length > 0
  return {
    registry: 'github',
    name: (hasFile && toSkillNameOfFile(rest.at(-1)!)) || id,
    author: user,
    url: hasFile ? file : page,
    repoUrl: page,
    candidates: hasFile ? [file] : [`${raw}/SKILL.md`, raw],
  }
}

/** Any other URL: that of a file if it has a query or a file extension, else of a folder. */
function readPlainUrl({ url, segments }: SourceUrl): ExternalSource {
  const last = segments.at(-1) ?? ''
  const isFile = url.search !== '' || documentPattern.test(last)
  const base = url.href.replace(/#.*$/s, '')
  const folder = base.replace(/\/$/, '')
  return {
    registry: 'skills.sh',
    name: (toSkillNameOfFile(last) || segments.at(-2) || url.hostname).slice(0, nameCharactersMax),
    author: url.hostname,
    url: isFile ? base : folder,
    repoUrl: '',
    candidates: isFile ? [base] : [`${folder}/SKILL.md`, base],
  }
}

const nameCharactersMax = 128
const documentPattern = /\.(?:md|markdown|mdx|txt)$/i

/** The skill name in a file name; '' for SKILL.md, which is named by its folder. */
function toSkillNameOfFile(file: string): string {
  return /^skill\.md$/i.test(file) ? '' : file.replace(documentPattern, '')
}

function readSkillParameter(skill: string | undefined): string | undefined {
  if (skill === undefined || /^[a-z0-9][\w.-]{0,63}$/i.test(skill)) return skill
  throw refuseSourceUrl('contains an invalid skill name. Use letters, digits and hyphens')
}

function isGithubUser(text: string): boolean {
  return /^[a-z0-9][\w-]{0,38}$/i.test(text)
}

function isGithubRepository(text: string): boolean {
  return /^(?!\.{1,2}$)[\w.-]{1,100}$/.test(text)
}

/** The location of an external skill. Every notation of a location gives the same values. */
export interface ExternalSource {
  readonly registry: 'skills.sh' | 'github'
  readonly name: string
  readonly author: string
  /** The canonical URL of the source; it can be parsed again and opened in a browser. */
  readonly url: string
  /** The repository's URL in lower case; '' if there is none. */
  readonly repoUrl: string
  /** Raw URLs at which the skill's SKILL.md may be, most likely first. */
  readonly candidates: readonly string[]
  /** If set, the last candidate is the root SKILL.md, which counts only if its frontmatter has this name. */
  readonly rootIfNamed?: string
}

/** A location in a repository: a folder, a file, or a skill known only by name. */
interface RepoPlace {
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
function toRepositorySource(place: RepoPlace): ExternalSource {
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

/** A parsed http(s) URL that has passed the checks of {@link parseSourceUrl}. */
interface SourceUrl {
  readonly url: URL
  /** The decoded segments of the path as written: the URL parser would silently resolve `..`. */
  readonly segments: readonly string[]
  /** The fragment of the URL, decoded, without the `#`. */
  readonly hash: string
}

const segmentsMax = 32

/** Parses an http(s) URL. Throws `invalid_request` for other text, and for URLs that mislead readers. */
function parseSourceUrl(text: string): SourceUrl {
  // The URL parser would silently drop line breaks and change backslashes.
  if (/[\s\p{C}\\]/u.test(text)) throw refuseSourceUrl('must not contain spaces, backslashes or control characters')
  const [, scheme, authority, path = '', hash = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/is.exec(text) ?? []
  if (scheme === undefined || authority === undefined)
    throw refuseSourceUrl('must be a URL that begins with https://, or a source such as owner/repo@skill')
  if (!/^https?$/i.test(scheme)) throw refuseSourceUrl('must begin with https:// or http://')
  // In `https:///a`, the URL parser would skip the third slash, and take `a` as the host.
  if (authority === '') throw refuseSourceUrl('must have its host directly after the two slashes')
  if (authority.includes('@')) throw refuseSourceUrl('must not contain a username or password')
  if (authority.includes('%')) throw refuseSourceUrl('must not contain percent-encoding in its host')
  if (!URL.canParse(text)) throw refuseSourceUrl('is not a valid URL')
  const segments = parsePathSegments(path)
  return { url: new URL(text), segments, hash: decodeUrlPart(hash) }
}

/** The decoded segments of a path. Throws for `..`, encoded slashes and double encoding. */
function parsePathSegments(path: string): string[] {
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
function refuseSourceUrl(message: string): RegistryError {
  return invalidField('url', message)
}

function decodeUrlPart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw refuseSourceUrl('contains an invalid percent-encoding')
  }
}
