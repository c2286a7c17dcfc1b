import { readFromNode } from '../../api.ts'

/** A guide, as README.md of the guides lists it. */
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

/** A heading of a guide with the text below it. */
interface Section {
  /** 1 for the title of the guide. */
  readonly level: number
  readonly heading: string
  text: string
}

/** The Markdown of a guide, or of an endpoint as `api/NAME`. */
export function loadGuide(name: string): Promise<string> {
  return readFromNode(`/docs/guides/${name}.md`)
}

export async function loadOperations(): Promise<readonly Operation[]> {
  return JSON.parse(await readFromNode('/docs/guides/operations.json'))
}

export async function loadGuides(): Promise<readonly Guide[]> {
  return readSections(await loadGuide('README')).flatMap(({ heading, text }) =>
    [...text.matchAll(/^- \[(.+?)\]\((.+?)\)/gm)].map(([, title = '', path = '']) => {
      return { group: heading, title, name: toGuideName(path, 'README') ?? '' }
    }),
  )
}

/** Divides a guide at its headings; lines of code are no headings. */
export function readSections(guide: string): readonly Section[] {
  const sections: Section[] = []
  let isCode = false
  for (const line of guide.split('\n')) {
    if (/^\s*```/.test(line)) isCode = !isCode
    const [, marks = '', heading] = (!isCode && /^(#{1,4}) (.+)$/.exec(line)) || []
    if (heading) sections.push({ level: marks.length, heading, text: '' })
    else if (sections.length > 0) sections.at(-1)!.text += `${line}\n`
  }
  return sections
}

/** The guide or endpoint that a link in a guide names; undefined for other files of the project. */
export function toGuideName(path: string, from: string): string | undefined {
  const source = from.startsWith('packages-') ? `${from.replace('-', '/')}/README` : `docs/${from}`
  const url = URL.parse(path, `https://guides.invalid/${source}`)
  if (url?.host !== 'guides.invalid') return undefined
  const [, guide, folder] = /^\/(?:docs\/((?:api\/)?[\w-]+)|packages\/([\w-]+)\/README)\.md$/.exec(url.pathname) ?? []
  return folder ? `packages-${folder}` : guide
}
