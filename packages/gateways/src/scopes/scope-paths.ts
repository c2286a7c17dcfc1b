import type { DiscoveryScope } from '@skillstead/core/internal'

/** The path of a scope's index, and the conversion of its parameters to the scope. */
export interface ScopePath {
  /** The name for logs and metrics, which must not contain the path, because that of a share link contains a secret. */
  readonly endpoint: string
  /** The pattern of the path before the folder of an index. */
  readonly pattern: string
  /** The pattern of the path of an artifact below the folder of an index. */
  readonly artifact: string
  readonly read: (params: Readonly<Record<string, string>>) => DiscoveryScope
}

/** The paths of all scopes except the root, whose index is a pack that the operator chose. */
const scopePaths: readonly ScopePath[] = [
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

/** The paths of all scopes, including the root if the operator chose a pack for it. */
export function listScopePaths(discoveryPack: string | undefined): readonly ScopePath[] {
  return discoveryPack === undefined ? scopePaths : [toRootPath(discoveryPack), ...scopePaths]
}

function toRootPath(slug: string): ScopePath {
  return {
    endpoint: 'discoverRoot',
    pattern: '',
    artifact: '/:holder/:file',
    read: () => ({ of: 'pack', slug }),
  }
}

/**
 * Parses `pdf`, or `pdf@1.4.0` for a pinned version. `pdf@latest` and `pdf@pdf` pin no version: `skills find` prints
 * results as `<address>@<name>`, which users then paste.
 */
function parseSkill(segment: string): { name: string; version?: string } {
  const [name = '', version, ...more] = segment.split('@')
  if (more.length > 0) return { name: segment }
  return version === undefined || version === name || version === 'latest' ? { name } : { name, version }
}

/** A request's path with the new name of a transferred skill. `**:rest` in a pattern stands for the remaining path. */
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
    member: name,
  }
  return pattern.replaceAll(/(?:\*\*)?:([a-z]+)/g, (found, key: string) => {
    const text = encodeURIComponent(renamed[key] ?? '')
    return found.startsWith('*') ? text.replaceAll('%2F', '/') : text
  })
}
