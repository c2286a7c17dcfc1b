import type { DiscoveryScope } from '@skillstead/core'

/** A place where an index lies, and how its address tells what the index is about. */
export interface ScopePath {
  /** The name in logs and metrics: a link's secret stands in its address. */
  readonly endpoint: string
  /** Before {@link folder}. */
  readonly pattern: string
  /** Below the folder. */
  readonly artifact: string
  readonly read: (params: Readonly<Record<string, string>>) => DiscoveryScope
}

/** Where installers look for an index below an address. */
export const folder = '/.well-known/agent-skills'

/** Every scope but the root's, which is a pack that the operator chose. */
export const scopePaths: readonly ScopePath[] = [
  {
    endpoint: 'discoverPack',
    pattern: '/packs/:slug',
    artifact: '/:holder/:file',
    read: ({ slug = '' }) => ({ of: 'pack', slug }),
  },
  {
    endpoint: 'discoverShared',
    pattern: '/t/:token',
    artifact: '/:file',
    read: ({ token = '' }) => ({ of: 'share', token }),
  },
  {
    endpoint: 'discoverOwner',
    pattern: '/:owner',
    artifact: '/:file',
    read: ({ owner = '' }) => ({ of: 'owner', owner }),
  },
  {
    endpoint: 'discoverSkill',
    pattern: '/:owner/:skill',
    artifact: '/:file',
    read: ({ owner = '', skill = '' }) => ({ of: 'skill', owner, ...parseSkill(skill) }),
  },
]

/** The root's scope. */
export function toRootPath(slug: string): ScopePath {
  return {
    endpoint: 'discoverRoot',
    pattern: '',
    artifact: '/:holder/:file',
    read: () => ({ of: 'pack', slug }),
  }
}

/**
 * `pdf`, or `pdf@1.4.0` to stay at a version. `pdf@latest` is no pin, nor is `pdf@pdf`: `skills find` prints what it found
 * as `<address>@<name>`, which is then pasted.
 */
function parseSkill(segment: string): { name: string; version?: string } {
  const [name = '', version, ...more] = segment.split('@')
  if (more.length > 0) return { name: segment }
  return version === undefined || version === name || version === 'latest' ? { name } : { name, version }
}

/** The same address for the name that a transfer gave the skill. */
export function renameScope(pattern: string, params: Readonly<Record<string, string>>, fullName: string): string {
  const [owner = '', name = ''] = fullName.split('/')
  const pin = /@.*/.exec(params.skill ?? '')?.[0] ?? ''
  const version = /-\d+\.\d+\.\d+\.(?:zip|md)$/.exec(params.file ?? '')?.[0] ?? ''
  const renamed: Record<string, string> = {
    ...params,
    owner,
    holder: owner,
    skill: name + (pin === `@${params.skill?.split('@')[0]}` ? '' : pin),
    file: name + version,
  }
  return pattern.replaceAll(/:([a-z]+)/g, (_, key: string) => encodeURIComponent(renamed[key] ?? ''))
}
