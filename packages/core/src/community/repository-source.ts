import type { ExternalSource } from './external-source.ts'

/** A location in a repository: a folder, a file, or a skill known only by name. */
export interface Place {
  readonly host: 'github.com' | 'gitlab.com'
  readonly project: readonly string[]
  /** A branch, tag or commit; `HEAD` is the tip of the default branch. */
  readonly ref: string
  /** Empty if a skill is named. */
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

/** The page of a location: the folder for a SKILL.md, and a fragment for a skill known by name, as in `npx skills`. */
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
