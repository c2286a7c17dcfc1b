import MiniSearch from 'minisearch'
import { toAnchor } from '../../ui/markdown-parts.tsx'
import { loadGuide, loadGuides, loadOperations, readSections } from './load-docs.ts'

/** A section of a guide, or an endpoint. */
interface Found {
  readonly id: number
  readonly href: string
  readonly title: string
  /** The guide, or what the endpoint is for. */
  readonly note: string
}

/** Longer queries are cut. */
export const queryCharactersMax = 200
const foundMax = 30

let index: Promise<MiniSearch> | undefined

/** The sections and endpoints with all words of the query, or with some if none has all; best first. */
export async function searchDocs(q: string): Promise<readonly Found[]> {
  index ??= buildIndex().catch((error: unknown) => {
    index = undefined
    throw error
  })
  const documents = await index
  const all = documents.search(q, { combineWith: 'AND' })
  const found = (all.length > 0 ? all : documents.search(q)).slice(0, foundMax)
  return found.map(({ id, href, title, note }) => ({ id, href, title, note }) as Found)
}

async function buildIndex(): Promise<MiniSearch> {
  const [guides, operations] = await Promise.all([loadGuides(), loadOperations()])
  const texts = await Promise.all(guides.map(({ name }) => loadGuide(name)))
  const sections = guides.flatMap((guide, place) =>
    readSections(texts[place]!).map(({ level, heading, text }) => {
      const href = `/docs/${guide.name}${level === 1 ? '' : `#${toAnchor(heading)}`}`
      return { href, title: heading.replaceAll('`', ''), note: `${guide.group}: ${guide.title}`, text }
    }),
  )
  const endpoints = operations.map(({ name, method, path, summary, fields }) => {
    const text = fields.map(({ field }) => field).join(' ')
    return { href: `/docs/api/${name}`, title: name, note: `${method} ${path}: ${summary}`, text }
  })
  const made = new MiniSearch({
    fields: ['title', 'note', 'text'],
    storeFields: ['href', 'title', 'note'],
    searchOptions: { prefix: true, fuzzy: (term) => (term.length > 4 ? 0.2 : false), boost: { title: 4, note: 2 } },
  })
  made.addAll([...endpoints, ...sections].map((one, id) => ({ ...one, id })))
  return made
}
