import { hasBody, inputFields, type Route } from '../endpoints/routes.ts'
import { isRequired } from './openapi.ts'
import { type JsonSchema, toOpenapiSchema } from './openapi-webhooks.ts'

/** Values of fields in examples, by the name of the field; for only one endpoint, by `ENDPOINT.FIELD`. */
const samples: Readonly<Record<string, unknown>> = {
  agentKey: 'claude-code:1',
  claimantName: 'Alice Example',
  claims: { repository: 'acme/skills' },
  code: 'CODE',
  description: 'Fills in PDF forms.',
  digest: `sha256:${'0'.repeat(64)}`,
  displayName: 'Alice Example',
  from: '1.0.0',
  'getTile.path': '0/000',
  issuer: 'https://token.actions.githubusercontent.com',
  member: 'bob',
  model: 'claude-sonnet-4-5',
  name: 'office',
  newName: 'pdf-forms',
  newOwner: 'bob',
  organisation: 'acme',
  path: 'SKILL.md',
  platformId: 'claude-code',
  q: 'fill in a form',
  ranAt: '2026-01-02T12:00:00.000Z',
  'recallSkill.range': '>=1.0.0 <1.4.2',
  'resolveSkills.skills': [{ name: 'alice/pdf', range: '^1.0.0' }],
  runner: 'skillstead eval',
  signature: 'Alice Example',
  skill: 'alice/pdf',
  skillMd: '---\nname: pdf\ndescription: Fills in PDF forms.\n---\n# PDF\n',
  skillName: 'alice/pdf',
  slug: 'office',
  target: 'acme/tool',
  team: 'tools',
  title: 'A short title',
  to: '1.1.0',
  upstream: 'public',
  url: 'https://example.com/skill',
  username: 'bob',
  version: '1.0.0',
}

/** The input of a sample request: the required fields, and one field of the body if none is required. */
export function toSampleInput({
  name: operation,
  endpoint,
  pathNames,
  queryNames,
}: Route): Readonly<Record<string, unknown>> {
  const fields = inputFields(endpoint)
  const isNeeded = (name: string) => pathNames.includes(name) || isRequired(fields[name]!) || name === 'q'
  const chosen = Object.keys(fields).filter((name) => name !== 'archive' && isNeeded(name))
  const [first] = queryNames
  if (hasBody(endpoint) && first !== undefined && !chosen.some((name) => queryNames.has(name))) chosen.push(first)
  return Object.fromEntries(
    chosen.map((name) => {
      const sample = toSample(name, toOpenapiSchema(fields[name]!, 'input'))
      const own = name === 'name' && pathNames.includes(name) ? samples.skill : samples[`${operation}.${name}`]
      return [name, own ?? sample]
    }),
  )
}

function toSample(name: string, schema: JsonSchema): unknown {
  const { type, properties = {}, required = [], items, anyOf, enum: choices, const: only, minimum, format } = schema
  if (type === 'object' && Object.hasOwn(samples, name)) return samples[name]
  if (type === 'object') {
    const given = Object.entries(properties).filter(([key]) => required.includes(key))
    return Object.fromEntries(given.map(([key, inner]) => [key, toSample(key, inner)]))
  }
  if (type === 'array') return items ? [toSample(name.replace(/s$/, ''), items)] : []
  if (only !== undefined || choices) return only ?? choices![0]
  if (type === 'boolean' || anyOf?.some((one) => one.type === 'boolean')) return true
  if (type === 'integer' || type === 'number') return Math.max(1, minimum ?? 1)
  if (Object.hasOwn(samples, name)) return samples[name]
  if (anyOf) return toSample(name, anyOf[0]!)
  if (format === 'uuid' || /^id$|Id$/.test(name)) return '00000000-0000-4000-8000-000000000000'
  return format === 'email' || /email/i.test(name) ? 'alice@example.com' : `Some ${name}.`
}
