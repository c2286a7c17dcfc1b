import { type EndpointName, type endpoints, type Output, type Pack, verdictWords } from '@skillstead/protocol'

/** The text of a public page for readers without JavaScript, search engines and previews of links. Untrusted. */
export interface PageText {
  readonly title: string
  readonly description: string
  /** The path of the page below the node. */
  readonly path: string
  readonly facts?: readonly (readonly [term: string, text: string])[]
  /** The part of the install command after the address of the node. */
  readonly install?: string
  readonly links?: readonly (readonly [path: string, title: string])[]
  /** The whole text of the page, as Markdown. */
  readonly body?: string
}

/** The object that a page is about. */
export interface Subject {
  readonly endpoint: EndpointName
  toInput(params: Readonly<Record<string, string>>, query: URLSearchParams): Record<string, string>
  /** The text for an answer of the endpoint. Undefined for a page that previews and search engines leave out. */
  toText?(body: unknown): PageText
  /** The text of the page of a list while the list cannot be read. */
  readonly plain?: PageText
}

type Answer<Name extends EndpointName> = Output<(typeof endpoints)[Name]>

function toSubject<Name extends EndpointName>(
  endpoint: Name,
  toInput: Subject['toInput'],
  toText?: (body: Answer<Name>) => PageText,
): Subject {
  // The body is a response of this endpoint.
  return { endpoint, toInput, ...(toText && { toText: (body) => toText(body as Answer<Name>) }) }
}

/** A route of the app. A route without a text and a subject is for personal pages, which search engines leave out. */
export interface PageRoute {
  readonly path: string
  readonly text?: PageText
  /** The paths of the route's pages for the sitemap. Default: the path of `text`. */
  readonly paths?: readonly string[]
  /** The text of a page that is the same on every node; undefined if there is no such page. */
  textOf?(params: Readonly<Record<string, string>>): PageText | undefined
  /** The allowed values of the last parameter of the path. Default: any value. */
  readonly sections?: readonly string[]
  /** The object that the page is about; undefined if the URL names no object. */
  subjectOf?(query: URLSearchParams): Subject | undefined
}

const lists: readonly PageText[] = [
  { path: '/packs', title: 'Packs', description: 'Skills that belong together, installed at once.' },
  { path: '/trending', title: 'Trending', description: 'The skills that are installed most at present.' },
  { path: '/users', title: 'Authors', description: 'The authors of the skills, with their reputation.' },
  { path: '/agents', title: 'Agents', description: 'The agents that install and review the skills.' },
  { path: '/external', title: 'External skills', description: 'Skills of other registries.' },
  { path: '/takedowns', title: 'Takedowns', description: 'Report content that infringes your copyright.' },
]
const requests: PageText = { path: '/requests', title: 'Requests', description: 'Skills that people ask for.' }

const mostListed = 50

/** The lists whose pages link to the listed objects, by path. */
const listed: Readonly<Record<string, (text: PageText) => Subject>> = {
  '/': (text) => toList(text, 'searchSkills', { sort: 'downloads' }, ({ skills }) => toSkillLinks(skills)),
  '/packs': (text) =>
    toList(text, 'listPacks', {}, ({ packs }) => packs.map(({ slug, name }) => [`/packs/${slug}`, name])),
  '/trending': (text) =>
    toList(text, 'getTrending', {}, ({ entries }) => toSkillLinks(entries.map(({ skill: one }) => one))),
  '/users': (text) =>
    toList(text, 'getLeaderboard', {}, ({ entries }) =>
      entries.map(({ username }) => [`/users/${username}`, username]),
    ),
}

function toList<Name extends EndpointName>(
  text: PageText,
  endpoint: Name,
  input: Readonly<Record<string, string>>,
  toLinks: (body: Answer<Name>) => (readonly [path: string, title: string])[],
): Subject {
  const subject = toSubject(
    endpoint,
    () => ({ ...input, limit: `${mostListed}` }),
    (body) => ({ ...text, links: [...(text.links ?? []), ...toLinks(body)] }),
  )
  return { ...subject, plain: text }
}

/** The route of a page with a fixed text. The page of a list also links to the listed objects. */
function toRoute(text: PageText): PageRoute {
  const list = listed[text.path]?.(text)
  return { path: text.path, text, ...(list && { subjectOf: () => list }) }
}

/** The route of the page at `/`. */
export function toHomeRoute(description = ''): PageRoute {
  const links = [...lists, requests].map(({ path, title }) => [path, title] as const)
  return toRoute({ path: '/', title: 'Find a skill for your agent', description, links })
}

/** A skill, at `/skills/OWNER/NAME`. */
export const skill = toSubject(
  'getSkill',
  ({ owner, name }, query) => ({ name: `${owner}/${name}`, ...pick(query, 'version') }),
  toSkillText,
)
const pack = toSubject('getPack', ({ slug = '' }) => ({ slug }), toPackText)
const user = toSubject('getUser', ({ username = '' }) => ({ username }), toUserText)
const agent = toSubject('getAgent', ({ agentKey = '' }) => ({ agentKey }), toAgentText)
const request = toSubject('getRequest', (_, query) => pick(query, 'id'), toRequestText)
const organisation = toSubject('getOrganisation', ({ name = '' }) => ({ organisation: name }))
const takedown = toSubject('getDmca', ({ id = '' }) => ({ id }))

/** The routes of the app, which loads the content of the pages itself. */
export const pageRoutes: readonly PageRoute[] = [
  ...lists.map(toRoute),
  { path: '/skills/:owner/:name', subjectOf: () => skill },
  {
    path: '/skills/:owner/:name/:tab',
    sections: 'files versions security provenance similar reviews issues manage install report'.split(' '),
    subjectOf: () => skill,
  },
  { path: '/packs/:slug', subjectOf: () => pack },
  { path: '/agents/:agentKey', subjectOf: () => agent },
  { path: '/users/:username', subjectOf: () => user },
  { path: '/requests', text: requests, subjectOf: (query) => (query.get('id') ? request : undefined) },
  { path: '/organisations/:name', subjectOf: () => organisation },
  {
    path: '/organisations/:name/:section',
    sections: ['teams', 'skills', 'rules', 'ci', 'settings'],
    subjectOf: () => organisation,
  },
  { path: '/takedowns/:id', subjectOf: () => takedown },
  ...['/account', '/account/reviews/:id', '/account/webhooks/:id', '/device'].map((path) => ({ path })),
  ...['/admin', '/admin/mirrors/:upstream', '/admin/users/:username', '/_components'].map((path) => ({ path })),
  {
    path: '/account/**',
    sections: 'skills publish reviews keys ci sessions webhooks stars verification sign-in setup'.split(' '),
  },
  {
    path: '/admin/**',
    sections: 'users quarantine reports copies dmca verifications mirrors outbox storage audit'.split(' '),
  },
]

function pick(query: URLSearchParams, name: string): Record<string, string> {
  const value = query.get(name)
  return value ? { [name]: value } : {}
}

function toSkillText(details: Answer<'getSkill'>): PageText {
  const { fullName, description, latestVersion, security, license, stub } = details
  const path = `/skills/${fullName}`
  const [owner = ''] = fullName.split('/')
  const isInstallable = !stub && security?.verdict !== 'dangerous'
  return {
    path,
    title: fullName,
    description,
    facts: [
      ...(stub ? [] : [['Version', latestVersion] as const]),
      ['Scan', security ? verdictWords[security.verdict] : 'not scanned yet'],
      ...(license ? [['Licence', license] as const] : []),
      ['Author', owner],
      ['Downloads', `${details.downloads}`],
      ...(details.deprecated ? [['Deprecated', details.deprecationMessage || 'yes'] as const] : []),
    ],
    ...(isInstallable && { install: `${fullName}@${latestVersion}` }),
    links: [
      [`${path}/files`, 'Files'],
      [`${path}/versions`, 'Versions'],
      [`${path}/security`, 'Security'],
      [`/users/${owner}`, `Skills of ${owner}`],
      [`/api/v1/skills/${fullName}/skill.md`, 'SKILL.md'],
    ],
  }
}

function toPackText({ slug, name, description, curator, skills }: Pack): PageText {
  return {
    path: `/packs/${slug}`,
    title: name,
    description,
    facts: [['Curator', curator.username]],
    install: `packs/${slug}`,
    links: toSkillLinks(skills),
  }
}

interface ShownUser {
  readonly username: string
  readonly displayName: string
  readonly skills: readonly { readonly fullName: string }[]
}

function toUserText({ username, displayName, skills }: ShownUser): PageText {
  const title = displayName || username
  return {
    path: `/users/${username}`,
    title,
    description: `Skills for agents by ${title === username ? username : `${title} (${username})`}.`,
    links: toSkillLinks(skills),
  }
}

function toAgentText({ agentKey, displayName }: { agentKey: string; displayName: string }): PageText {
  const title = displayName || agentKey
  return { path: `/agents/${encodeURIComponent(agentKey)}`, title, description: `What the agent ${title} reviewed.` }
}

function toRequestText({ id, title, description }: { id: string; title: string; description: string }): PageText {
  return { path: `/requests?id=${encodeURIComponent(id)}`, title, description }
}

function toSkillLinks(skills: readonly { readonly fullName: string }[]): (readonly [string, string])[] {
  return skills.map(({ fullName }) => [`/skills/${fullName}`, fullName] as const)
}
