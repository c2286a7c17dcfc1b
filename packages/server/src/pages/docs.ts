import type { StaticFiles } from '../context/options.ts'
import { routes } from '../endpoints/routes.ts'
import type { PageRoute, PageText } from './page-texts.ts'
import { listOperations, toEndpointList, toOperationMarkdown } from './reference.ts'

const folder = 'docs/guides'

/** A guide in the list of README.md, as `- [Title](file.md): what it is for.` below the heading of its group. */
interface Guide {
  readonly group: string
  readonly name: string
  readonly title: string
  readonly purpose: string
}

/**
 * The files of the dashboard, with additional files of the API reference: `api.md` with the list of endpoints, a file
 * for each endpoint, and lists in JSON for the pages: the guides, the operations, and the passages that users search.
 * Each file is made when it is first read.
 */
export function withReference(files: StaticFiles): StaticFiles {
  const read = (name: string) => readGuide(files, name)
  const own: [string, () => string][] = [
    ['api.md', () => addEndpoints(read('api') || '# The HTTP API\n\n')],
    ['guides.json', () => JSON.stringify(listGuides(read('README')))],
    ['operations.json', () => JSON.stringify(listOperations())],
    ['passages.json', () => JSON.stringify([...listOperationPassages(), ...listPassages(read)])],
    ...routes.map((route): [string, () => string] => [`api/${route.name}.md`, () => toOperationMarkdown(route)]),
  ]
  return new Map([...files, ...own.map(([path, make]) => [`${folder}/${path}`, () => Buffer.from(make())] as const)])
}

/** The routes of the documentation: its list, the guides and the endpoints. */
export function createDocsRoutes(files: StaticFiles): readonly PageRoute[] {
  const texts = new Map<string, () => PageText>()
  const add = (name: string, title: string, description: string) => {
    let text: PageText | undefined
    texts.set(name, () => (text ??= { path: `/docs/${name}`, title, description, body: readGuide(files, name) }))
  }
  const guides = listGuides(readGuide(files, 'README'))
  for (const { name, title, purpose } of guides) add(name, title, `${title}: ${purpose}`)
  add('api', 'API reference', 'Every endpoint with its fields, answers and examples, and what callers may rely on.')
  for (const { name, endpoint } of routes) add(`api/${name}`, `${name}: ${endpoint.summary}`, `${endpoint.summary}.`)
  const description = 'Guides for users, authors and operators, and the API reference.'
  const links = guides.map(({ name, title }) => [`/docs/${name}`, title] as const)
  const overview = { path: '/docs', title: 'Documentation', description, links }
  const paths = ['/docs', ...Array.from(texts.keys(), (name) => `/docs/${name}`)]
  return [
    { path: '/docs', textOf: () => overview, paths },
    { path: '/docs/:guide', textOf: ({ guide = '' }) => texts.get(guide)?.() },
    { path: '/docs/api/:operation', textOf: ({ operation = '' }) => texts.get(`api/${operation}`)?.() },
  ]
}

function readGuide(files: StaticFiles, name: string): string {
  return Buffer.from(files.get(`${folder}/${name}.md`)?.() ?? '').toString()
}

function listGuides(list: string): readonly Guide[] {
  return divide(list).flatMap(({ heading: group, text }) =>
    [...text.matchAll(/^- \[(.+?)\]\((.+?)\.md\): (.+)$/gm)].map(([, title = '', path = '', purpose = '']) => {
      return { group, name: path.replace(/^\.\.\/(packages)\/([\w-]+)\/README$/, '$1-$2'), title, purpose }
    }),
  )
}

function listOperationPassages() {
  return listOperations().map(({ name, method, path, summary, fields }) => {
    const text = fields.map(({ field }) => field).join(' ')
    return { page: `api/${name}`, title: name, note: `${method} ${path}: ${summary}`, text }
  })
}

/** The sections of the guides. `isSection`: whether the section begins at a heading below the title of the guide. */
function listPassages(read: (name: string) => string) {
  return listGuides(read('README')).flatMap(({ name, group, title: guide }) =>
    divide(read(name)).map(({ level, heading, text }) => {
      const title = heading.replaceAll('`', '')
      return { page: name, title, note: `${group}: ${guide}`, text, isSection: level > 1 }
    }),
  )
}

/** Divides a guide at its headings; lines of code are no headings. */
function divide(guide: string) {
  const sections: { level: number; heading: string; text: string }[] = []
  let isCode = false
  for (const line of guide.split('\n')) {
    if (/^\s*```/.test(line)) isCode = !isCode
    const [, marks = '', heading] = (!isCode && /^(#{1,4}) (.+)$/.exec(line)) || []
    if (heading) sections.push({ level: marks.length, heading, text: '' })
    else if (sections.length > 0) sections.at(-1)!.text += `${line}\n`
  }
  return sections
}

/** Puts the list of endpoints before the first section of the guide to the API. */
function addEndpoints(guide: string): string {
  const [introduction = '', ...sections] = guide.split(/^(?=## )/m)
  return [introduction, toEndpointList(), ...sections].join('')
}
