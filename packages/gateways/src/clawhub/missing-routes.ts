import { RegistryError } from '@skillstead/protocol'
import { mountPath, toTextFailure } from './route-table.ts'
import type { GatewayRoute } from '../gateway.ts'

/** Functions of ClawHub that this registry lacks, by path, and what to use instead. */
const missing = {
  '/api/v1/skills/:slug/rename':
    'The name of a skill does not change here. Publish the skill under the new name, then deprecate this one.',
  '/api/v1/skills/:slug/merge':
    'Skills cannot be merged here. Deprecate one, with the name of the other as the reason.',
  '/api/v1/skills/:slug/tags/:tag':
    'There are no tags but latest, which is the highest version that is not deleted. Delete the versions above the one that you want.',
  '/api/v1/skills/-/scan':
    'Every version is scanned when it is published. Read the result with: clawhub skill verify SKILL',
  '/api/v1/skills/-/scan/**':
    'Every version is scanned when it is published. Read the result with: clawhub skill verify SKILL',
  '/api/v1/publishers': 'There are no publishers but users, whom an administrator creates.',
  '/api/v1/publishers/**': 'There are no publishers but users, whom an administrator creates.',
  '/api/v1/users/**': 'Administer users on the dashboard, or with: skillstead users',
  '/api/v1/packages': 'This registry has skills only, no plugins.',
  '/api/v1/packages/**': 'This registry has skills only, no plugins.',
  '/api/v1/code-plugins/**': 'This registry has skills only, no plugins.',
  '/api/v1/bundle-plugins/**': 'This registry has skills only, no plugins.',
  '/api/v1/skills-sh/**': 'This registry does not list skills of skills.sh. Name a skill of this node.',
  '/api/v1/promotions/**': 'This registry has no promotions.',
  '/api/v1/publish/**': 'Publish with an API key of this node: this registry has no trusted publishers.',
  '/**': 'This registry has no such function for clawhub.',
} as const

/**
 * Routes that respond with 404 and the text, because `clawhub` repeats a request that got 501. The last route also
 * responds to unknown paths.
 */
export const missingRoutes: readonly GatewayRoute[] = Object.entries(missing).map(([path, text]) => ({
  pattern: `${mountPath}${path}`,
  endpoint: 'clawhub',
  methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  admission: 'keyed',
  origins: 'none',
  answer() {
    throw new RegistryError('not_found', text)
  },
  toFailure: toTextFailure,
}))
