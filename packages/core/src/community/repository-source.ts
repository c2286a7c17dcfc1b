import type { ExternalSource } from './external-source.ts'

/** A place in a repository: a folder, a file, or a skill that is known by its name alone. */
export interface Place {
  readonly host: 'github.com' | 'gitlab.com'
  readonly project: readonly string[]
  /** A branch, tag or commit; `HEAD` is the newest of the main branch. */
  readonly ref: string
  /** Empty where a skill is named. */
  readonly path: readonly string[]
  /** The path is that of a file. */
  readonly isFile?: boolean
  readonly skill?: string | undefined
}

/** Where the clients that people have keep skills in a repository, likeliest first; `*` is the skill's name. */
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

/** The source of a place on GitHub or GitLab. */
export function toRepositorySource(place: Place): ExternalSource {
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
    name: (file && !isSkillMd(file) && file.replace(/\.\w+$/, '')) || folder.at(-1) || project.at(-1)!,
    url: toPageUrl(place, repoUrl),
    candidates: files.map((name) => raw([...folder, name])),
  }
}

function splitPath({ path, isFile }: Place): { folder: readonly string[]; file?: string } {
  const last = path.at(-1)
  return last !== undefined && (isFile || isSkillMd(last))
    ? { folder: path.slice(0, -1), file: last }
    : { folder: path }
}

function toRawUrl({ host, project, ref }: Place, path: readonly string[]): string {
  const rest = encodePath([...ref.split('/'), ...path])
  const repository = project.join('/').toLowerCase()
  return host === 'github.com'
    ? `https://raw.githubusercontent.com/${repository}/${rest}`
    : `https://gitlab.com/${repository}/-/raw/${rest}`
}

/** The page of a place; a SKILL.md is at home in its folder, and a skill by name in a fragment, as `npx skills` has it. */
function toPageUrl(place: Place, repoUrl: string): string {
  const { folder, file } = splitPath(place)
  const isDocument = file !== undefined && !isSkillMd(file)
  const path = isDocument ? place.path : folder
  const ref = place.ref === 'HEAD' ? '' : encodePath(place.ref.split('/'))
  if (place.skill !== undefined) return `${repoUrl}#${ref}@${place.skill}`
  if (path.length === 0 && ref === '') return repoUrl
  const kind = isDocument ? 'blob' : 'tree'
  const dash = place.host === 'gitlab.com' ? '/-' : ''
  return `${repoUrl}${dash}/${kind}/${[ref || 'HEAD', encodePath(path)].filter(Boolean).join('/')}`
}

function isSkillMd(file: string): boolean {
  return file.toLowerCase() === 'skill.md'
}

function encodePath(path: readonly string[]): string {
  return path.map(encodeURIComponent).join('/')
}
