import type { StaticFiles } from '../context/options.ts'
import { routes } from '../endpoints/routes.ts'
import type { PageRoute, PageText } from './page-texts.ts'
import { listOperations, toEndpointList, toOperationMarkdown } from './reference.ts'

const folder = 'docs/guides'

/**
 * The files of the dashboard with those of the API reference: `api.md` with the list of endpoints, a file for each
 * endpoint, and `operations.json`. Each is made when it is first read.
 */
export function withReference(files: StaticFiles): StaticFiles {
  const guide = files.get(`${folder}/api.md`)
  const own: [string, () => string][] = [
    [`${folder}/api.md`, () => addEndpoints(guide ? Buffer.from(guide()).toString() : '# The HTTP API\n\n')],
    [`${folder}/operations.json`, () => JSON.stringify(listOperations())],
    ...routes.map((route): [string, () => string] => {
      return [`${folder}/api/${route.name}.md`, () => toOperationMarkdown(route)]
    }),
  ]
  return new Map([...files, ...own.map(([path, make]) => [path, () => Buffer.from(make())] as const)])
}

/**
 * The pages of the documentation: the guides that README.md lists, as `- [Title](file.md): what it is for.`, and the
 * endpoints.
 */
export function createDocsRoutes(files: StaticFiles): readonly PageRoute[] {
  const read = (name: string) => Buffer.from(files.get(`${folder}/${name}.md`)?.() ?? '').toString()
  const texts = new Map<string, () => PageText>()
  const add = (name: string, title: string, description: string) => {
    let text: PageText | undefined
    texts.set(name, () => (text ??= { path: `/docs/${name}`, title, description, body: read(name) }))
  }
  for (const [, title = '', path = '', purpose = ''] of read('README').matchAll(/^- \[(.+?)\]\((.+?)\.md\): (.+)$/gm)) {
    const name = path.replace(/^\.\.\/(packages)\/([\w-]+)\/README$/, '$1-$2')
    add(name, title, `${title}: ${purpose}`)
  }
  add('api', 'API reference', 'Every endpoint with its fields, answers and examples, and what callers may rely on.')
  for (const { name, endpoint } of routes) add(`api/${name}`, `${name}: ${endpoint.summary}`, `${endpoint.summary}.`)
  const description = 'Guides for users, authors and operators, and the API reference.'
  return [
    { path: '/docs', text: { path: '/docs', title: 'Documentation', description, body: read('README') } },
    { path: '/docs/:guide', textOf: ({ guide = '' }) => texts.get(guide)?.() },
    { path: '/docs/api/:operation', textOf: ({ operation = '' }) => texts.get(`api/${operation}`)?.() },
  ]
}

/** Puts the list of endpoints before the first section of the guide to the API. */
function addEndpoints(guide: string): string {
  const [introduction = '', ...sections] = guide.split(/^(?=## )/m)
  return [introduction, toEndpointList(), ...sections].join('')
}
