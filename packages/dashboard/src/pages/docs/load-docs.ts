import { readFromNode } from '../../api.ts'

/** A guide in the list of guides. */
export interface Guide {
  readonly group: string
  /** The end of its address. */
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
    /** A type of TypeScript, with limits. */
    readonly type: string
    readonly isText: boolean
    readonly sample?: unknown
  }[]
}

/** The Markdown of a guide, or of an endpoint as `api/NAME`. */
export function loadGuide(name: string): Promise<string> {
  return readFromNode(`/docs/guides/${name}.md`)
}

/** A list of the documentation: `guides`, `operations` or `passages`. */
export async function loadList<Item>(name: string): Promise<readonly Item[]> {
  return JSON.parse(await readFromNode(`/docs/guides/${name}.json`))
}

/** The guide or endpoint that a link in a guide names; undefined for other files of the project. */
export function toGuideName(path: string, from: string): string | undefined {
  const source = from.startsWith('packages-') ? `${from.replace('-', '/')}/README` : `docs/${from}`
  const url = URL.parse(path, `https://guides.invalid/${source}`)
  if (url?.host !== 'guides.invalid') return undefined
  const [, guide, folder] = /^\/(?:docs\/((?:api\/)?[\w-]+)|packages\/([\w-]+)\/README)\.md$/.exec(url.pathname) ?? []
  return folder ? `packages-${folder}` : guide
}
