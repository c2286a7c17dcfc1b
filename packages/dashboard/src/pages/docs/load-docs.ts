import { queries, readFromNode } from '../../api.ts'
import MiniSearch from 'minisearch'
import { toAnchor } from '../../ui/anchors.ts'

/** A guide in the list of guides. */
export interface Guide {
  readonly group: string
  /** The part of its address after `/docs/`. */
  readonly name: string
  readonly title: string
}

/** An endpoint, with the fields of its input. */
export interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly fields: readonly {
    readonly field: string
    readonly required: boolean
    /** The type of the value in TypeScript, with its limits. */
    readonly type: string
    readonly isText: boolean
    readonly sample?: unknown
  }[]
}

/** The Markdown of a guide, or of an endpoint as `api/NAME`. */
export const loadGuide = (name: string): Promise<string> => readFromNode(`/docs/guides/${name}.md`)

/** A list of the documentation: `guides`, `operations` or `passages`. */
export const loadList = async <Item>(name: string): Promise<readonly Item[]> =>
  JSON.parse(await readFromNode(`/docs/guides/${name}.json`))

/** The guide or endpoint that a link in a guide names; undefined for other files of the project. */
export function toGuideName(path: string, from: string): string | undefined {
  const source = from.startsWith('packages-') ? `${from.replace('-', '/')}/README` : `docs/${from}`
  const url = URL.parse(path, `https://guides.invalid/${source}`)
  if (url?.host !== 'guides.invalid') return undefined
  const [, guide, folder] = /^\/(?:docs\/((?:api\/)?[\w-]+)|packages\/([\w-]+)\/README)\.md$/.exec(url.pathname) ?? []
  return folder ? `packages-${folder}` : guide
}

/** A section of a guide, or an endpoint. */
interface Passage {
  /** The part of the address of its page after `/docs/`. */
  readonly page: string
  readonly title: string
  /** The group and guide of a section, or the request and summary of an endpoint. */
  readonly note: string
  /** Whether the passage begins at a heading below the title of its page. */
  readonly isSection?: boolean
}

/** Maximum length of a query; the rest is ignored. */
export const queryCharactersMax = 200
const foundMax = 30

/** The sections and endpoints with all words of the query, or with some if none has all; best first. */
export async function searchDocs(q: string): Promise<readonly { href: string; title: string; note: string }[]> {
  const passages = await queries.ensureQueryData({ queryKey: ['docs', 'index'], queryFn: buildIndex })
  const all = passages.search(q, { combineWith: 'AND' })
  const found = (all.length > 0 ? all : passages.search(q)).slice(0, foundMax)
  return found.map(({ page, title, note, isSection }) => {
    return { href: `/docs/${page}${isSection ? `#${toAnchor(title)}` : ''}`, title, note }
  })
}

async function buildIndex(): Promise<MiniSearch> {
  const passages = await loadList<Passage>('passages')
  const made = new MiniSearch({
    fields: ['title', 'note', 'text'],
    storeFields: ['page', 'title', 'note', 'isSection'],
    searchOptions: { prefix: true, fuzzy: (term) => (term.length > 4 ? 0.2 : false), boost: { title: 4, note: 2 } },
  })
  made.addAll(passages.map((one, id) => ({ ...one, id })))
  return made
}
